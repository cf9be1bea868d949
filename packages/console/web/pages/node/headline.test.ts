import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InterfaceFact } from '../../devices/interface-facts.ts'
import { type NodeFacts, nodeHeadline } from './headline.ts'

const CALM: InterfaceFact = {
  device: 'eth0',
  isUp: true,
  isGone: false,
  isSilent: false,
  isOver: false,
  errors: 0,
  drops: 0,
  movingForMs: 0,
}

function headline(interfaces: readonly Partial<InterfaceFact>[], more: Partial<NodeFacts> = {}) {
  const { tone, sentence, facts } = nodeHeadline({
    interfaces: interfaces.map((fact, i) => ({ ...CALM, device: `eth${i}`, ...fact })),
    received: 1e6,
    sent: 2e6,
    busy: 0.25,
    memoryAvailable: 0.5,
    pressure: [],
    pressureSpanMs: 10_000,
    ...more,
  })
  const spaced = (text: string): string => text.replaceAll('\u00a0', ' ')
  return { tone, sentence: spaced(sentence), facts: spaced(facts) }
}

test('all is well: one quiet sentence with numbers', () => {
  assert.deepEqual(headline([{}, {}]), {
    tone: 'calm',
    sentence: 'Both interfaces are up; none counts errors or drops.',
    facts: 'Received 8.00 Mb/s, sent 16.0 Mb/s in all. Processors 25.0 % busy. 50.0 % of memory available.',
  })
  assert.equal(headline([{}, { isUp: false }]).sentence, '1 of 2 interfaces is up; none counts errors or drops.')
})

test('what is not measured is not spoken of', () => {
  const nothing = { received: Number.NaN, sent: Number.NaN, busy: Number.NaN, memoryAvailable: Number.NaN }
  assert.equal(headline([{}], nothing).facts, '')
  assert.equal(headline([], nothing).sentence, 'No interface is read')
})

test('the worst comes first, and the others are counted', () => {
  const { tone, sentence, facts } = headline([{ drops: 5, movingForMs: 125_000 }, { downForMs: 3_000 }])
  assert.equal(tone, 'critical')
  assert.equal(sentence, 'eth1 is down, for 3 s')
  assert.match(facts, /And 1 more\.$/)
})

test('an odd one is held against the others', () => {
  assert.match(headline([{ errors: 4 }, {}, {}]).facts, /^4\/s, the other interfaces 0\./)
  assert.doesNotMatch(headline([{ errors: 4 }, { errors: 1 }]).facts, /the other/)
  assert.equal(headline([{ drops: 5, movingForMs: 125_000 }]).sentence, 'eth0 drops packets, for 2 min 5 s')
})

test('memory that runs short and tasks that wait are worth a sentence', () => {
  assert.equal(headline([{}], { memoryAvailable: 0.03 }).sentence, 'Memory is short: 3.0 % is available')
  const waiting = headline([{}], { pressure: [{ name: 'io', share: 0.4 }] })
  assert.equal(waiting.sentence, 'Tasks wait for a disk 40.0 % of the time, mean of 10 s')
  assert.equal(headline([{}], { pressure: [{ name: 'io', share: 0.1 }] }).tone, 'calm')
})
