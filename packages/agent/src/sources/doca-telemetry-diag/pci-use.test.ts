import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bandwidthOf } from '../pci/bandwidth.ts'
import { numberOf, TestReport } from '../simulator/test-report.ts'
import type { LinkBandwidth } from './link-bandwidth.ts'
import { PciUse } from './pci-use.ts'
import { docaDiagPciBytesType, docaDiagPciUseType } from './type.ts'

/** The capacity that the alert of the recipe assumes for every link and both directions. Unit: bytes per second. */
const OF_RECIPE = 16e9

/** A link with a given capacity, and what is reported about it. */
function bringUp(bandwidth: number) {
  const records: Record<string, number | undefined>[] = []
  const absent: string[] = []
  const absences = { set: (...[, , field]: string[]) => absent.push(String(field)), clear: () => undefined }
  const context = { absences, source: { report: (_: unknown, record: never) => records.push(record) } }
  const link = { read: async () => ({ origin: 'pci_files', value: bandwidth }) } as unknown as LinkBandwidth
  const use = new PciUse('mlx5_0', link, context as never)
  const at = async (seconds: number, bytes: object) => {
    await use.report(1n, { bytes, monoNs: BigInt(seconds * 1e9) })
    return records.at(-1)
  }
  return { at, absent }
}

// Reference for the capacities: lanes times 2.0, 4.0, 7.877, 15.754, 31.508 and 60.5 Gbit/s.
for (const [generation, transfers, gigabitsOfLane] of [
  [1, 2.5e9, 2],
  [2, 5e9, 4],
  [3, 8e9, 7.877],
  [4, 16e9, 15.754],
  [5, 32e9, 31.508],
  [6, 64e9, 60.5],
] as const)
  test(`a full link of generation ${generation} is used to 100 %, whatever its width`, async () => {
    for (const lanes of [1, 8, 16]) {
      const { at } = bringUp(bandwidthOf(transfers, lanes) ?? Number.NaN)
      const bytesPerSecond = (gigabitsOfLane * lanes * 1e9) / 8
      await at(0, { inbound_bytes_total: 0, outbound_bytes_total: 0 })
      const record = await at(5, { inbound_bytes_total: 5 * bytesPerSecond, outbound_bytes_total: 0n })
      assert.ok(Math.abs((record?.inbound_ratio ?? 0) - 1) < 1e-3, `${lanes} lanes: ${record?.inbound_ratio}`)
      assert.equal(record?.outbound_ratio, 0)
    }
  })

test('a healthy adapter of 400 Gbit/s is at 26 %, not at 206 %', async () => {
  const { at } = bringUp(bandwidthOf(32e9, 16) ?? Number.NaN)
  const [start, bytesPerSecond] = [2n ** 63n, 16_500_000_000n]
  await at(0, { inbound_bytes_total: start, outbound_bytes_total: start })
  const after = start + 5n * bytesPerSecond
  const record = await at(5, { inbound_bytes_total: after, outbound_bytes_total: after })
  assert.equal((2 * Number(bytesPerSecond)) / OF_RECIPE, 2.0625)
  assert.equal(record?.inbound_ratio?.toFixed(3), '0.262')
  assert.equal(record?.outbound_ratio?.toFixed(3), '0.262')
})

test('a first sample, and a counter that fell, have no ratio', async () => {
  const { at, absent } = bringUp(1e9)
  const first = await at(0, { inbound_bytes_total: 5, outbound_bytes_total: 5 })
  assert.deepEqual([first?.inbound_ratio, first?.outbound_ratio], [undefined, undefined])
  const fell = await at(1, { inbound_bytes_total: 4, outbound_bytes_total: 6 })
  assert.deepEqual([fell?.inbound_ratio, fell?.outbound_ratio], [undefined, 1e-9])
  assert.deepEqual(absent, ['inbound_ratio', 'outbound_ratio'])
})

test('every adapter of a healthy simulated node is below 100 %, while the recipe says more', () => {
  const report = new TestReport({})
  const seen: number[] = []
  let before = report.at(999)(docaDiagPciBytesType)
  for (let t = 1000; t < 1040; t++) {
    const records = report.at(t)
    const bytes = records(docaDiagPciBytesType)
    for (const [key, use] of records(docaDiagPciUseType)) {
      const ratios = [numberOf(use, 'inbound_ratio'), numberOf(use, 'outbound_ratio')]
      assert.ok(
        ratios.every((ratio) => ratio >= 0 && ratio < 1),
        `${key} at ${t}: ${ratios}`,
      )
    }
    for (const [key, now] of bytes) {
      const gainOf = (field: string) => numberOf(now, field) - numberOf(before.get(key), field)
      seen.push((gainOf('inbound_bytes_total') + gainOf('outbound_bytes_total')) / OF_RECIPE)
    }
    before = bytes
  }
  assert.ok(Math.max(...seen) > 2, `the recipe's most: ${Math.max(...seen)}`)
})
