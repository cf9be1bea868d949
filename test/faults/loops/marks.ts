import assert from 'node:assert/strict'
import type { Batch, Source } from '@sonde/sdk'
import { createOwnSource, markType } from '@sonde/sdk/internal'
import type { Random } from '../../../packages/sdk/test/random.ts'
import type { FaultLoop } from '../loop.ts'
import { Month } from '../month.ts'

const HOUR_MS = 3_600_000
const HOURS_A_DAY = 24
const MARKS_AN_HOUR = 10_000
const RULES = ['link_flap', 'gpu_slow', 'pcie_replay', 'ecn_storm']
const DEVICES = Array.from({ length: 16 }, (_, i) => `mlx5_${i}`)
const EDGES = ['opened', 'confirmed', 'peak', 'ended', 'dismissed']

/** A month of events. Rounds are days that follow one another. */
export const marks: FaultLoop = {
  name: 'marks',
  what: 'ten thousand marks of events an hour, each with words of its own, a day a round, 30 rounds are a month: all are kept, and after the first two hours they use up no label, no table of labels and no series',
  testRounds: 1,
  async open() {
    const month = await Month.open()
    const source = createOwnSource({ id: 'rules', emit: (batch: Batch) => month.accept(batch) })
    let events = 0
    let first: readonly (number | undefined)[] | undefined
    return {
      async round(random) {
        for (let hour = 0; hour < HOURS_A_DAY; hour++) {
          for (let i = 0; i < MARKS_AN_HOUR; i++) reportMark(random, source, month, events++)
          source.emit()
          await month.pass(HOUR_MS)
          // The store has all of them every other hour.
          if (hour % 2 === 0) continue
          const used = [
            source.info.symbols.count,
            month.tableCount,
            month.view.seriesCount,
            month.stored.sizes().series,
          ]
          first ??= used
          assert.deepEqual(used, first, `labels, tables of labels, series shown and stored after ${events} marks`)
        }
      },
      async close() {
        await source.close()
        await month.close()
        return `${events} marks, ${first?.[0]} labels, ${first?.[3]} series`
      },
    }
  },
}

function reportMark(random: Random, source: Source, { timeNs }: Month, event: number): void {
  const [rule, device, edge] = [random.pick(RULES), random.pick(DEVICES), random.pick(EDGES)]
  const summary = `${rule} of ${device}, event ${event}`
  source.report(markType, { time: timeNs, rule, device, event, edge, severity: 'notice', unit: 'percent', summary })
}
