import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Random } from '../../../test/random.ts'
import { BatchSource } from '../../../test/sink-records.ts'
import { type Absence, Reasons } from './reasons.ts'

/** What is absent, kept in a plain list. */
class PlainReasons {
  states: Absence[] = []

  take(absence: Absence): void {
    const { type, series, field, code } = absence
    const isSame = (state: Absence) => state.type === type && state.series === series && state.field === field
    const isGone = (state: Absence) => state.type === type && (series === '' || state.series === series)
    const leaves = code === 'gone' && field === '' ? isGone : isSame
    this.states = this.states.filter((state) => !leaves(state))
    if (code !== '' && code !== 'gone') this.states.push(absence)
  }
}

const keyOf = ({ type, series, field, code }: Absence) => `${type} ${series} ${field} ${code}`

test('what is absent is what a plain list says, whatever comes, is gone or comes back', () => {
  const random = new Random(11)
  const [reasons, plain] = [new Reasons(), new PlainReasons()]
  const batch = new BatchSource().ports({ a: 1 })
  for (let step = 0; step < 5000; step++) {
    const absence = {
      type: random.pick(['a', 'b']),
      series: random.pick(['', 'x', 'y', 'z']),
      field: random.pick(['', 'f', 'g']),
      code: random.pick(['', 'gone', 'denied', 'failed']),
      reason: '',
    }
    assert.ok(reasons.take(batch, absence, step))
    plain.take(absence)
    assert.deepEqual([...reasons.all()].map(keyOf).sort(), plain.states.map(keyOf).sort())
  }
  assert.ok([...reasons.expire(5000)].length > 0)
  assert.deepEqual([...reasons.all(), ...reasons.sources()], [])
})

test('states that leave make room, and those that leave at once cost no walk through the others', () => {
  const reasons = new Reasons()
  const batch = new BatchSource().ports({ a: 1 })
  const state = (i: number, code: string, field = 'f') => ({ type: 't', series: `s${i}`, field, code, reason: '' })
  for (let round = 0; round < 5; round++) {
    for (let i = 0; i < 10_000; i++) assert.ok(reasons.take(batch, state(i, 'denied'), 0), `${i} of round ${round}`)
    assert.ok(!reasons.take(batch, state(10_000, 'denied'), 0))
    // With a walk for each, a round would take 100 million steps.
    for (let i = 0; i < 10_000; i++) reasons.take(batch, state(i, 'gone', ''), 0)
  }
  assert.deepEqual([...reasons.all()], [])
})
