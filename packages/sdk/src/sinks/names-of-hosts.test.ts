// Names of hosts that stop to resolve or get another address, before each sink that sends over a network.
import assert from 'node:assert/strict'
import dns, { type LookupAddress, type LookupOptions } from 'node:dns'
import { type TestContext, test } from 'node:test'
import { FAR_ENDS } from '../../test/far-ends.ts'
import { FaultyWay } from '../../test/faulty-way.ts'
import { until } from '../../test/helper.ts'
import { HASTY } from '../../test/push-sink-cases.ts'
import { BatchSource } from '../../test/sink-records.ts'

const NAME = 'collector.example'

type Answer = (error: Error | null, found: string | readonly LookupAddress[], family?: number) => void

/** What the resolver says for {@link NAME}: an address, an error code, or nothing while it is `hangs`. */
interface Resolver {
  answer: string
  questions: number
}

/** Replaces the resolver of the system, as all sockets of the process use it. */
function resolver(t: TestContext): Resolver {
  const state: Resolver = { answer: '', questions: 0 }
  const system = dns.lookup as unknown as (host: string, options: LookupOptions, done: Answer) => void
  t.mock.method(dns, 'lookup', (host: string, options: LookupOptions, done: Answer) => {
    if (host !== NAME) return system(host, options, done)
    state.questions++
    const { answer } = state
    if (answer === 'hangs') return
    setImmediate(() => {
      if (/^E/.test(answer))
        done(Object.assign(new Error(`getaddrinfo ${answer} ${host}`), { code: answer }), options.all ? [] : '')
      else if (options.all) done(null, [{ address: answer, family: 4 }])
      else done(null, answer, 4)
    })
  })
  return state
}

for (const [name, start] of Object.entries(FAR_ENDS)) {
  test(`${name}: a name that stops to resolve is told and retried, and its next address gets everything`, async (t) => {
    const [before, after] = [await start(t), await start(t)]
    const first = await FaultyWay.start(t, before.port)
    const { port } = first
    const next = await FaultyWay.start(t, after.port, { port, host: '127.0.0.2' })
    const system = resolver(t)
    const sink = before.open({ ...HASTY, host: NAME, port })
    t.after(() => sink.close())
    const source = new BatchSource()

    system.answer = '127.0.0.1'
    sink.accept(source.ports({ a: 1 }))
    await sink.flush()
    // On a slow machine an attempt can end before its answer: a record then comes again.
    assert.deepEqual(new Set(before.devices()), new Set(['a']))

    const failures = { ENOTFOUND: /has no address/, EAI_AGAIN: /has no address/, hangs: /no answer within 300 ms/ }
    for (const [index, [answer, words]] of Object.entries(failures).entries()) {
      system.answer = answer
      first.break()
      const { errors } = sink.stats
      const { questions } = system
      sink.accept(source.ports({ [`b${index}`]: 1 }))
      await until(`it says why: ${answer}`, () => sink.stats.errors >= errors + 2 && words.test(sink.failing))
      assert.ok(system.questions >= questions + 2, 'each attempt asks again')
      if (answer !== 'hangs') assert.match(sink.failing, new RegExp(`^${NAME}:${port} has no address: .*${answer}`))
      assert.deepEqual([sink.stats.out, sink.queuedRecords], [1, index + 1])
    }

    const { connections } = first
    system.answer = '127.0.0.2'
    await sink.flush()
    assert.deepEqual([...new Set([...before.devices(), ...after.devices()])], ['a', 'b0', 'b1', 'b2'])
    assert.ok(!after.devices().includes('a') && !before.devices().includes('b0'))
    assert.deepEqual([first.connections, next.connections >= 1], [connections, true])
    assert.deepEqual([sink.stats.out, sink.stats.dropped.size, sink.failing], [4, 0, ''])
  })
}
