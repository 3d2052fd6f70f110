"""A cluster with a namespace, clients that see managed fields, and what they apply."""

from env_core.apiserver.client import ApiClient
from env_core.apiserver.request import ADMIN, APPLY_PATCH, Options
from env_core.cluster import Cluster

DEPLOYMENTS = "deployments.apps"


def shop():
    made = Cluster(seed=1)
    made.boot()
    made.client().create("namespaces", "", {"metadata": {"name": "shop"}})
    return made


def seeing(cluster, identity=ADMIN, agent="kubectl/v1.37.2 (linux/amd64)"):
    client = ApiClient(cluster.server, identity, agent)
    client.sees_managed_fields = True
    return client


def config_map(name="c", **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def deployment(**spec):
    labels = {"app": "web"}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "web", "image": "nginx:1.27"}]},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": labels}, "template": template, **spec},
    }


def apply(api, config, manager="a", *, resource="configmaps", subresource="", **options):
    return api.patch(
        resource,
        "shop",
        config["metadata"]["name"],
        config,
        APPLY_PATCH,
        subresource=subresource,
        options=Options(field_manager=manager, **options),
    )


def managers(obj):
    return {
        (entry["manager"], entry["operation"], entry.get("subresource", "")): entry["fieldsV1"]
        for entry in obj["metadata"].get("managedFields", [])
    }
