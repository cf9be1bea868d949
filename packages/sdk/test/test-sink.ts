import { describe, test } from 'node:test'
import { orderCases } from './order-case.ts'
import { HASTY, PUSH_SINKS } from './push-sink-cases.ts'
import { EVERY_SINK } from './sink-cases.ts'
import { type OpenSink, Tested } from './tested-sink.ts'

/**
 * The cases that every sink passes. A *view* shows what it takes; a *push* sink sends it to a peer, and passes those of
 * a peer in trouble as well. A destination keeps the order that it states. A sink's own tests hold only what is special
 * to it.
 *
 * @example
 * testSink('recent', 'view', () => {
 *   const sink = new RecentRing()
 *   return { sink, read: (type, field) => newestOf(sink.batches(type), type, field) }
 * })
 */
export function testSink(name: string, profile: 'view' | 'push', open: OpenSink): void {
  const cases = [...EVERY_SINK, ...(profile === 'push' ? PUSH_SINKS : []), ...orderCases(name)]
  describe(`every sink: ${name}`, () => {
    for (const { title, limits = HASTY, run } of cases) {
      test(title, async (t) => {
        const tested = new Tested(await open(t, limits))
        t.after(() => tested.sink.close())
        await run(tested)
        tested.checkBalance()
      })
    }
  })
}
