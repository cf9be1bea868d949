// Simulates the past of a node in a worker.
import { parentPort, workerData } from 'node:worker_threads'
import { LinkOut } from '../hosting/link-out.ts'
import { simulator } from '../sources/simulator/simulator.ts'
import { PastNode } from './past-node.ts'
import { type FromPast, type PastRequest, SELF, SELF_PAST_TYPES } from './past-protocol.ts'

/** Samples of one stretch: the agent stores a stretch before it asks for the next. */
const STRETCH_SAMPLES = 4

const request = workerData as PastRequest
const send = (message: FromPast) => parentPort?.postMessage(message)
const outs = new Map([
  [request.name, new LinkOut(request.name, simulator.types, send)],
  [SELF, new LinkOut(SELF, SELF_PAST_TYPES, send)],
])
const node = new PastNode(request, (source, batch) => outs.get(source)?.put(batch))

parentPort?.on('message', () => {
  let isDone = false
  for (let samples = 0; samples < STRETCH_SAMPLES && !isDone; samples++) isDone = node.step()
  send({ kind: 'filled', toMs: Math.min(node.atMs, request.toMs), isDone })
})
