// Simulates the past of a node in a worker.
import { parentPort, workerData } from 'node:worker_threads'
import { LinkOut } from '../hosting/link-out.ts'
import { simulator } from '../sources/simulator/simulator.ts'
import { PastEvents } from './past-events.ts'
import { PastNode } from './past-node.ts'
import {
  type FromPast,
  type PastEventsRequest,
  type PastRequest,
  SELF,
  SELF_PAST_TYPES,
  type ToPast,
} from './past-protocol.ts'

/** Samples of one stretch: the agent stores a stretch before it asks for the next. */
const STRETCH_SAMPLES = 4

const request = workerData as PastRequest
const send = (message: FromPast) => parentPort?.postMessage(message)
const outs = new Map([
  [request.name, new LinkOut(request.name, simulator.types, send)],
  [SELF, new LinkOut(SELF, SELF_PAST_TYPES, send)],
])
const node = new PastNode(request, (source, batch) => outs.get(source)?.put(batch))

parentPort?.on('message', (message: ToPast) => {
  if (message.kind === 'go') go()
  else void makeEvents(message.request)
})

function go(): void {
  let isDone = false
  for (let samples = 0; samples < STRETCH_SAMPLES && !isDone; samples++) isDone = node.step()
  send({ kind: 'filled', toMs: Math.min(node.atMs, request.toMs), isDone })
}

/** An error ends the thread, and with that the past. */
async function makeEvents(events: PastEventsRequest): Promise<void> {
  // Only marks are reported, a type that every source has.
  const marks = new Map<string, LinkOut>()
  const { simulation, devices } = node
  const made = new PastEvents({
    ...{ past: request, events, simulation, devices },
    take: (source, batch) => {
      const out = marks.get(source) ?? new LinkOut(source, [], send)
      marks.set(source, out)
      out.put(batch)
    },
    onKept: (id) => send({ kind: 'event', id }),
    warn: (facts, message) => send({ kind: 'warning', facts, message }),
  })
  send({ kind: 'events', counts: await made.make() })
}
