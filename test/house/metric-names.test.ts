import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { metricNames } from '../../scripts/docs/metric-list.ts'
import { NAMES_ELSEWHERE } from '../../scripts/docs/names-elsewhere.ts'

const FILE = new URL('metric-names.txt', import.meta.url)
const RENEW = 'SONDE_GOLDEN=renew npm test -- metric-names'

test('names, types, units and labels of all metrics are those of the list', () => {
  const found = metricNames()
  if (process.env.SONDE_GOLDEN === 'renew') writeFileSync(FILE, found)
  const [before, now] = [readFileSync(FILE, 'utf8').split('\n'), found.split('\n')]
  const gone = before.filter((line) => !now.includes(line))
  const added = now.filter((line) => !before.includes(line))
  assert.deepEqual(
    { gone, added },
    { gone: [], added: [] },
    `Dashboards and alerts of users name these metrics. A change is a decision: write it into CHANGELOG.md, then ${RENEW}`,
  )
})

test('each name with a name elsewhere is that of a metric', () => {
  const names = new Set(
    metricNames()
      .split('\n')
      .map((line) => line.split(' ')[0]),
  )
  const unknown = Object.keys(NAMES_ELSEWHERE).filter((name) => !names.has(name))
  assert.deepEqual(unknown, [])
})
