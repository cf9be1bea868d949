// Type tests: compiled by `npm run check`, never run. Each `@ts-expect-error` fails the check when the line below it
// compiles.

import { type Batch, type DeliverySink, delivery, httpResult, type SendResult, type Sink } from '@sonde/sdk'

declare const batch: Batch

const sink: DeliverySink = delivery<string>({
  name: 'sink',
  encode: (batches) => (batches.length > 0 ? 'text' : undefined),
  send: async (body, signal) => httpResult(await fetch('http://127.0.0.1/', { method: 'POST', body, signal })),
  onReject: ({ payload, batches }) => void [payload?.length, batches.length],
  queuePolicy: 'block',
})

// A push sink is a sink like any other.
const plain: Sink = sink
plain.accept(batch)
const taken: boolean = sink.offer(batch)
void taken

// @ts-expect-error a push sink must say how to send
delivery({ name: 'sink', encode: () => '' })
// @ts-expect-error an encoder is synchronous
delivery<string>({ name: 'sink', encode: async () => '', send: async () => ({ outcome: 'ok' }) })
// @ts-expect-error no such policy
delivery({ name: 'sink', encode: () => '', send: async () => ({ outcome: 'ok' }), queuePolicy: 'drop' })
// @ts-expect-error no such limit
delivery({ name: 'sink', encode: () => '', send: async () => ({ outcome: 'ok' }), queueLimit: 1 })
// @ts-expect-error `send` takes what `encode` makes
delivery<string>({ name: 'sink', encode: () => '', send: async (_body: number) => ({ outcome: 'ok' }) })
// @ts-expect-error a refusal has a reason
const refusal: SendResult = { outcome: 'reject' }
void refusal
// @ts-expect-error accounts are for reading
sink.queuedRecords = 0
