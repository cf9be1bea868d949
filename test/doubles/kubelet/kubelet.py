"""A kubelet's PodResources server: answers with what a JSON file says now. Arguments: socket, file, folder of stubs.

The file has "answer", a ListPodResourcesResponse in protobuf's JSON, or "garbage", bytes in base64, or "bytes", the size
of an answer of that many bytes, or "hang": true, or "refuse", a status of gRPC.
"""

import base64
import concurrent.futures
import json
import sys
import time

import grpc

socket, plays, stubs = sys.argv[1:4]
sys.path.insert(0, stubs)
import pod_resources_pb2 as pb  # noqa: E402
from google.protobuf import json_format  # noqa: E402


def answer(request, context):
    pb.ListPodResourcesRequest.FromString(request)
    with open(plays) as file:
        play = json.load(file)
    while play.get("hang") and context.is_active():
        time.sleep(0.05)
    if "refuse" in play:
        context.abort(getattr(grpc.StatusCode, play["refuse"]), play.get("details", "refused"))
    if "garbage" in play:
        return base64.b64decode(play["garbage"])
    if "bytes" in play:
        return b"\x0a\x80\x01" + b"\x00" * play["bytes"]
    return json_format.ParseDict(play["answer"], pb.ListPodResourcesResponse()).SerializeToString()


server = grpc.server(
    concurrent.futures.ThreadPoolExecutor(4),
    options=[("grpc.max_send_message_length", -1)],
)
method = grpc.unary_unary_rpc_method_handler(answer)
server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("v1.PodResourcesLister", {"List": method})])
if server.add_insecure_port("unix:" + socket) == 0:
    sys.exit("no socket at " + socket)
server.start()
print("ready", flush=True)
server.wait_for_termination()
