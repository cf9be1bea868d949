"""Lists and watches the pods of a server with Debian's python3-kubernetes, and prints what it saw as JSON."""
import json
import sys

from kubernetes import client, config, watch

config.load_kube_config(sys.argv[1])
api = client.CoreV1Api()

names, pages, token, version = [], 0, None, ""
while pages == 0 or token:
    page = api.list_pod_for_all_namespaces(limit=50, _continue=token)
    names += [pod.metadata.name for pod in page.items]
    token, version = page.metadata._continue, page.metadata.resource_version
    pages += 1
print(json.dumps({"names": names, "pages": pages}), flush=True)

selected = {"field_selector": "spec.nodeName=node-a", "resource_version": version, "allow_watch_bookmarks": True}
for event in watch.Watch().stream(api.list_pod_for_all_namespaces, timeout_seconds=60, **selected):
    print(json.dumps({"type": event["type"], "name": event["raw_object"]["metadata"].get("name")}), flush=True)
    if event["type"] == "BOOKMARK":
        break

sys.stdin.readline()
try:
    for event in watch.Watch().stream(api.list_pod_for_all_namespaces, timeout_seconds=60, **selected):
        print(json.dumps({"type": event["type"]}), flush=True)
except client.exceptions.ApiException as error:
    print(json.dumps({"status": error.status, "reason": error.reason}), flush=True)
