"""Can A reach B, and what answers: DNS, Services, network policies, ingress."""
