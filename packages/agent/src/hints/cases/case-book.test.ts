import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RULES } from '../rules/index.ts'
import { countMeasure } from '../rules/measure.ts'
import { CaseBook } from './case-book.ts'
import type { RuleSighting } from './sighting.ts'

const START_MS = Date.UTC(2026, 0, 1)
const [rule] = RULES.filter(({ isEvent, severity }) => isEvent === true && severity === 'critical')
assert.ok(rule)

function sightingOn(id: string): RuleSighting {
  const finding = { title: 'Trouble', measure: countMeasure(1, '>=', 1, ''), sentence: () => 'Trouble' }
  const place = { name: id, rail: null, isSimulated: false, host: '', pairs: [], address: '', path: [], limits: {} }
  return {
    finding,
    severity: 'critical',
    sentence: 'Trouble',
    device: { id, kind: 'gpu', ...place },
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
