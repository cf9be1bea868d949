import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HintDevice } from '../device.ts'
import { RULES } from '../rules/index.ts'
import { countMeasure } from '../rules/measure.ts'
import { CaseBook } from './case-book.ts'
import type { RuleSighting } from './sighting.ts'

const START_MS = Date.UTC(2026, 0, 1)
const [rule] = RULES.filter(({ isEvent, severity }) => isEvent === true && severity === 'critical')
assert.ok(rule)

function deviceOf(id: string): HintDevice {
  const place = { name: id, rail: null, isSimulated: false, host: '', pairs: [], address: '', path: [], limits: {} }
  return { id, kind: 'gpu', ...place }
}

function sightingOn(id: string, affected: readonly string[] = [], value = 1): RuleSighting {
  const measure = countMeasure(value, '>=', 1, '')
  return {
    finding: { title: 'Trouble', measure, sentence: () => 'Trouble', affected: affected.map(deviceOf) },
    severity: 'critical',
    sentence: 'Trouble',
    device: deviceOf(id),
    evidence: [],
    lacks: [],
    sampleMs: START_MS,
  }
}

test('beyond the limit no case is opened, and refused sightings and unread edges are counted', () => {
  const book = new CaseBook()
  for (let gpu = 0; gpu < 1030; gpu++) book.see(rule, sightingOn(`gpu-${gpu}`), START_MS)
  book.advance(START_MS)
  const { name, severity } = rule
  assert.deepEqual(book.counts([rule]), [{ rule: name, severity, open: 1024, opened: 1024, lost: 6 }])
  book.withdraw(name, 'gpu-0', START_MS)
  assert.deepEqual(book.counts([rule]), [{ rule: name, severity, open: 1023, opened: 1024, lost: 7 }])
  assert.equal(book.takeEdges().length, 1024)
})

test('a device stays affected for half a minute after it last showed the effect, and so it was at the peak', () => {
  const book = new CaseBook()
  const affectedAt: string[] = []
  for (let second = 0; second <= 60; second++) {
    const affected = second < 10 ? ['gpu-1', 'gpu-2'] : second < 20 ? ['gpu-2'] : []
    const nowMs = START_MS + second * 1000
    book.see(rule, sightingOn('gpu-0', affected, second === 35 ? 9 : 2), nowMs)
    book.advance(nowMs)
    const said = book.hints()[0]?.affected.join(' ') ?? ''
    if (affectedAt.at(-1)?.split(': ')[1] !== said) affectedAt.push(`${second}: ${said}`)
  }
  assert.deepEqual(affectedAt, ['0: gpu-1 gpu-2', '40: gpu-2', '50: '])
  for (let second = 61; book.hints().length > 0; second++) book.advance(START_MS + second * 1000)
  assert.deepEqual(
    book.ended().map(({ value, affected }) => [value, affected]),
    [[9, ['gpu-1', 'gpu-2']]],
  )
})
