"""The Kubernetes REST interface of one cluster: HTTP requests in, HTTP answers out; pure, without any transport."""
