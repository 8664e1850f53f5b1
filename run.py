import torch, json, sys

torch.set_num_threads(1)
from ritz.experiments import network

r = network.fit("paper", 5000, 100_000, network.seeds(0, 1)[0])
json.dump(r, open("/tmp/netrun/paper.json", "w"))
