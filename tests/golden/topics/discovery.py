"""l2/facts/discovery: what each resource says of itself: names, verbs, scope, subresources."""

from collections.abc import Iterator

from tests.golden.comparison import NOT_IMPLEMENTED, Comparison, Topic
from tests.golden.recordings import Folder, Record
from tests.golden.servers import registry


def _judge(record: Record, _folder: Folder) -> Iterator[Comparison]:
    for group in record["items"]:
        name = group["metadata"].get("name", "")
        for version in group["versions"]:
            for resource in version["resources"]:
                unit = f"{name}/{version['version']}/{resource['resource']}"
                wanted = {
                    "kind": resource["responseKind"]["kind"],
                    "singular": resource["singularResource"],
                    "namespaced": resource["scope"] == "Namespaced",
                    "verbs": sorted(resource["verbs"]),
                    "shortNames": resource.get("shortNames", []),
                    "categories": resource.get("categories", []),
                    "subresources": sorted(each["subresource"] for each in resource.get("subresources", [])),
                }
                kind = registry().at(name, version["version"], resource["resource"])
                if kind is None:
                    yield Comparison(wanted, NOT_IMPLEMENTED, unit)
                    continue
                got = {
                    "kind": kind.kind,
                    "singular": kind.singular or kind.kind.lower(),
                    "namespaced": kind.is_namespaced,
                    "verbs": sorted(kind.verbs),
                    "shortNames": list(kind.short_names),
                    "categories": list(kind.categories),
                    "subresources": sorted(kind.subresources),
                }
                yield Comparison(wanted, got, unit)


TOPIC = Topic(
    name="l2/facts/discovery",
    files=("discovery/aggregated_api.json", "discovery/aggregated_apis.json"),
    judge=_judge,
)
