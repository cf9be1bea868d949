import assert from 'node:assert/strict'
import { counter, createSource, defineType, label, type Source, text, timestamp } from '@sonde/sdk'
import type { FaultLoop } from '../loop.ts'
import { Month } from '../month.ts'

const PODS = 200
const EVERY_MS = 600_000
const INTERVALS_A_DAY = 144
/** Labels of the source at a time: so small that its table is replaced several times a day. */
const SYMBOL_LIMIT = 5000

const podType = defineType('churn_pod', 'Work of one pod', {
  time: timestamp(),
  pod: label('Name of the pod'),
  work_total: counter('u64', { help: 'Work done' }),
  state: text({ help: 'What it does' }),
})

/** A month of pods that come and go. Rounds are days that follow one another. */
export const churn: FaultLoop = {
  name: 'churn',
  what: 'all 200 pods of a node are replaced every ten minutes, a day a round, 30 rounds are a month: nothing is dropped, and from the fifth day on no table, file, map or view grows, nor is a table of labels kept that no record needs',
  testRounds: 6,
  async open() {
    const month = await Month.open()
    const emit = (batch: Parameters<typeof month.accept>[0]) => month.accept(batch)
    const source = createSource({ id: 'pods', symbolLimit: SYMBOL_LIMIT, emit })
    let intervals = 0
    return {
      async round() {
        for (let i = 0; i < INTERVALS_A_DAY; i++) {
          reportPods(source, month, intervals++)
          checkRing(month)
          await month.pass(EVERY_MS)
        }
        assert.deepEqual([...source.stats.dropped], [])
        assert.ok(month.tableCount >= 5 * month.days, `${month.tableCount} tables of labels`)
      },
      async close() {
        await source.close()
        await month.close()
        return `${intervals * PODS} pods, ${month.tableCount} tables of labels`
      },
    }
  },
}

function reportPods(source: Source, { timeNs }: Month, interval: number): void {
  for (let i = 0; i < PODS; i++) {
    const pod = `job-${interval}-${i}`
    source.report(podType, { time: timeNs, pod, work_total: interval, state: `runs ${pod}` })
  }
  source.emit()
}

/** The window has the pods of now, and the tables that their records need. */
function checkRing({ ring }: Month): void {
  const batches = ring.batches(podType)
  assert.equal(
    batches.reduce((sum, { count }) => sum + count, 0),
    PODS,
  )
  assert.ok(new Set(batches.map(({ source }) => source)).size <= 2)
}
