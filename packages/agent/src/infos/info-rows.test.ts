import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Batch, type Labels, type ReadRecord, readRecords, viewsOf } from '@sonde/sdk'
import { labelsOf, periodType, seriesKey } from '@sonde/sdk/internal'
import { NodeRecords } from '../devices/test-node-records.ts'
import { latestSeries } from '../pipeline/latest.ts'
import { RecentRing } from '../pipeline/recent.ts'
import { docaPccType } from '../sources/doca-telemetry-pcc/type.ts'
import { nvmlGpuInfoType, nvmlGpuType } from '../sources/nvml/type.ts'
import { podInfoType } from '../sources/pods/type.ts'
import { rdmaPortType } from '../sources/rdma/type.ts'
import { InfoRows } from './info-rows.ts'
import { INFO_METRICS } from './type.ts'

/** Info rows on a clock that the test sets, and the records that the last evaluation emitted. */
function infos() {
  let nowMs = 1000
  let emitted: (ReadRecord & { readonly of: string; readonly key: string })[] = []
  const recent = new RecentRing()
  const rows = new InfoRows((batch: Batch) => {
    const { type, source, bytes, count, symbols } = batch
    recent.accept({ ...batch, arrivedMs: nowMs })
    if (type.fingerprint === periodType.fingerprint) return
    const views = viewsOf(bytes)
    const records = [...readRecords(type, views, count, symbols)]
    for (const [i, record] of records.entries()) {
      const key = seriesKey(labelsOf(type, source, views, i * type.layout.recordBytes))
      emitted.push({ ...record, ...source.labels, of: type.name, key })
    }
  })
  const sourceOf = (labels: Labels = {}, intervalMs = 1000) =>
    new NodeRecords({ accept: (batch: Batch) => rows.accept({ ...batch, arrivedMs: nowMs }) }, labels, intervalMs)
  const evaluate = (afterMs = 1000) => {
    emitted = []
    nowMs += afterMs
    rows.evaluate(nowMs)
    return emitted
  }
  return { rows, recent, sourceOf, evaluate }
}

const GPU = { gpu: '0', UUID: 'GPU-0', serial: '1650', driver: '570.86' }
const EMPTY_LABELS = Object.fromEntries(nvmlGpuInfoType.labels.map(({ name }) => [name, '']))
const GPU_LABELS: Labels = { ...EMPTY_LABELS, gpu: '0', UUID: 'GPU-0' }

test('texts of a record become labels of a metric that is 1, and numbers stay apart', () => {
  const { sourceOf, evaluate } = infos()
  const node = sourceOf({ simulated: 'true' })
  node.report(nvmlGpuInfoType, { ...GPU, multiprocessors: 132 })
  node.report(nvmlGpuType, { gpu: '0', UUID: 'GPU-0' })
  node.report(rdmaPortType, { device: 'mlx5_0', port: 2, firmware: '28.39.1002' })
  const [gpu, port, ...others] = evaluate()
  assert.deepEqual(others, [])
  assert.equal(gpu?.of, 'nvml_gpu_identity')
  assert.deepEqual([gpu?.UUID, gpu?.serial, gpu?.driver, gpu?.vbios, gpu?.info], ['GPU-0', '1650', '570.86', '', 1])
  assert.equal(gpu?.simulated, 'true', 'the constant labels of the source')
  assert.deepEqual([port?.port, port?.firmware, port?.info], [2, '28.39.1002', 1])
})

test('a row is repeated every 15 s, and not with each record', () => {
  const { sourceOf, evaluate } = infos()
  const node = sourceOf()
  const counts = Array.from({ length: 31 }, () => {
    node.report(nvmlGpuInfoType, GPU)
    return evaluate().length
  })
  assert.deepEqual(
    counts.flatMap((count, second) => (count === 0 ? [] : [second])),
    [0, 16],
  )
})

test('between two repeats a row is live, however far apart the rows of a type are', () => {
  const { recent, sourceOf, evaluate } = infos()
  const [often, seldom] = [sourceOf(), sourceOf({}, 60_000)]
  const liveAt = Array.from({ length: 150 }, (_, second) => {
    often.report(nvmlGpuInfoType, GPU)
    if (second >= 12) often.report(nvmlGpuInfoType, { gpu: '1', UUID: 'GPU-1', driver: '570.86' })
    if (second % 60 === 20) seldom.report(nvmlGpuInfoType, { gpu: '2', UUID: 'GPU-2', driver: '570.86' })
    evaluate()
    return latestSeries(recent, { type: 'nvml_gpu_identity' }).length
  })
  assert.deepEqual([liveAt[11], liveAt[19], liveAt.findIndex((count, at) => at >= 20 && count !== 3)], [1, 2, -1])
})

test('a changed text ends the series of before, and a device that is gone ends its own', () => {
  const { rows, sourceOf, evaluate } = infos()
  const node = sourceOf()
  node.report(nvmlGpuInfoType, GPU)
  const [before] = evaluate()
  node.report(nvmlGpuInfoType, { ...GPU, driver: '580.1' })
  const [gone, now] = evaluate().toSorted((a, b) => (a.of < b.of ? 1 : -1))
  assert.deepEqual([gone?.of, gone?.code, gone?.series], ['sonde_absence', 'gone', before?.key])
  assert.equal(now?.driver, '580.1')
  node.gone(nvmlGpuInfoType, GPU_LABELS)
  const [left, ...others] = evaluate()
  assert.deepEqual([left?.code, left?.series, others.length, rows.counts.rows], ['gone', now?.key, 0, 0])
})

test('a series that is absent with a reason has an info metric that is absent with it, until the series comes', () => {
  const { recent, sourceOf, evaluate } = infos()
  const node = sourceOf()
  const [without, other] = [{ rdma_device: 'mlx5_0' }, { rdma_device: 'mlx5_1', slot: 0, algorithm: 'rtt' }]
  const live = () =>
    latestSeries(recent, { type: 'doca_pcc_identity' }).map(({ labels, value, absent }) => {
      return `${labels.rdma_device} ${labels.algorithm ?? '-'}: ${value ?? absent}`
    })
  node.absences.set(docaPccType, without, '', 'unsupported', 'no accelerator')
  node.report(docaPccType, other)
  evaluate()
  assert.deepEqual(live(), ['mlx5_1 rtt: 1', 'mlx5_0 -: no accelerator'])
  node.absences.clear(docaPccType, without, '')
  node.report(docaPccType, { ...other, rdma_device: 'mlx5_0' })
  evaluate()
  assert.deepEqual(live().sort(), ['mlx5_0 rtt: 1', 'mlx5_1 rtt: 1'])
})

test('a text of the older source counts unless it is empty, and the younger takes over when the older ends', () => {
  const { sourceOf, evaluate } = infos()
  const [exporter, kubernetes] = [sourceOf(), sourceOf()]
  const report = () => {
    exporter.report(podInfoType, { namespace: 'ml', pod: 'a', app: '', service: 'api' })
    kubernetes.report(podInfoType, { namespace: 'ml', pod: 'a', app: 'chat', service: 'chat-api' })
  }
  report()
  const [row, ...others] = evaluate()
  assert.deepEqual([row?.app, row?.service, others.length], ['chat', 'api', 0])
  report()
  assert.deepEqual(evaluate(), [], 'two sources do not take turns')
  exporter.gone(podInfoType, { namespace: 'ml', pod: 'a' })
  assert.equal(evaluate().find(({ of }) => of === 'pod_identity')?.service, 'chat-api')
})

test('a source that is silent for five minutes no longer counts', () => {
  const { rows, sourceOf, evaluate } = infos()
  sourceOf().report(nvmlGpuInfoType, GPU)
  evaluate()
  assert.deepEqual(evaluate(290_000), [])
  assert.equal(evaluate(70_000)[0]?.code, 'gone')
  assert.equal(rows.counts.rows, 0)
})

test('texts that change without an end make few series, and the others are counted', () => {
  const { rows, sourceOf, evaluate } = infos()
  const node = sourceOf()
  let count = 0
  for (let change = 0; change < 100; change++) {
    node.report(nvmlGpuInfoType, { ...GPU, driver: `v${change}` })
    count += evaluate().filter(({ of }) => of === 'nvml_gpu_identity').length
  }
  // Eight changes, and repeats every 15 s.
  assert.ok(count < 20, `${count}`)
  assert.equal(rows.stats.dropped.get('info_changes'), 92)
  node.report(nvmlGpuInfoType, { ...GPU, driver: 'last' })
  evaluate(3_600_000)
  node.report(nvmlGpuInfoType, { ...GPU, driver: 'last' })
  assert.equal(evaluate().find(({ of }) => of === 'nvml_gpu_identity')?.driver, 'last')
})

test('rows beyond the limit are counted', () => {
  const { rows, sourceOf, evaluate } = infos()
  const node = sourceOf()
  for (let pod = 0; pod <= 16_384; pod++) node.report(podInfoType, { namespace: 'ml', pod: `p${pod}`, app: 'chat' })
  assert.deepEqual([rows.counts.rows, rows.stats.dropped.get('info_limit')], [16_384, 1])
  assert.equal(evaluate().length, 1000, 'the others follow')
})

test('each type has one metric, which ends in _info', () => {
  for (const { type } of INFO_METRICS) {
    const metrics = [...type.metrics.values()]
    assert.equal(metrics.length, 1)
    assert.match(metrics[0] ?? '', /_info$/)
  }
})
