import assert from 'node:assert/strict'
import type { AppGpuAnswer, AppsAnswer, PodsAnswer } from '@sonde/sdk/api'
import { fixture, livingBody } from '../packages/agent/src/sources/scraping/test-exporter.ts'
import { ask } from './ask.ts'
import { until } from './sonde-process.ts'

// A cluster in which pods share GPUs. On each of two nodes, a pod of `alpha` and a pod of `beta` share a GPU in time.
// On a third node, MIG splits a GPU for pods of `detector` and `ranker`. The same checks run over every history.

const MIB = 2 ** 20
/** What each of the time-sliced GPUs draws, and the board that MIG splits. Unit: watts. */
const [SLICED_W, BOARD_W] = [300.25, 401.5]

/** Bodies of exporters, by name; renewed at each scrape, as energy grows. */
export const SHARING_NODES: Readonly<Record<string, () => string>> = {
  'sliced-a': () => sliced('a', 'notebook-0', 'notebook-1'),
  'sliced-b': () => sliced('b', 'notebook-2', 'notebook-3'),
  'split-c': () => ofNode('c', livingBody(fixture('mig'))),
}

function ofNode(node: string, body: string): string {
  return body.replaceAll('gpu-node-a', `sharing-${node}`).replaceAll('GPU-', `GPU-${node}-`)
}

function sliced(node: string, alpha: string, beta: string): string {
  return ofNode(node, fixture('time-slicing'))
    .replaceAll('pod="notebook-0"', `pod="${alpha}",app="alpha",service="lab"`)
    .replaceAll('pod="notebook-1"', `pod="${beta}",app="beta",service="lab"`)
}

/** Waits until all pods of the cluster and their power are known, then checks every number that may count twice. */
export async function assertEachGpuOnce(sonde: { readonly address: string }): Promise<void> {
  const get = <T>(path: string) => ask<T>(sonde, `/api/v1/${path}`)
  const isOfCluster = ({ name }: { readonly name: string }) => /^(notebook|segment)-/.test(name)
  const pods = await until('the pods of all nodes', 60_000, async () => {
    const found = (await get<PodsAnswer>('pods')).pods.filter(isOfCluster)
    return found.length === 6 && found.every((pod) => pod.deviceValues['gpu-power-w'] !== undefined) && found
  })
  const podOf = (wanted: string) => pods.find(({ name }) => name === wanted)
  const alpha = podOf('notebook-0')
  assert.deepEqual([alpha?.gpus, alpha?.sharedWith], [1, 1])
  assert.deepEqual([alpha?.values['gpu-util'], alpha?.values['gpu-mem-used']], [60, 25_000 * MIB], 'of its processes')
  assert.deepEqual([alpha?.values['gpu-power-w'], alpha?.values['gpu-mem-total']], [null, null], 'of the GPU alone')
  assert.deepEqual(alpha?.deviceValues['gpu-mem-total'], 80_565 * MIB)
  assert.equal(podOf('notebook-3')?.values['gpu-util'], 30)
  const segment = podOf('segment-a')
  assert.deepEqual([segment?.instances, segment?.sharedWith, segment?.values['gpu-power-w']], [1, 0, null])
  assert.equal(segment?.values['gpu-mem-used'], 20_210 * MIB)
  for (const { name, values, gaps } of pods) {
    const unknown = Object.entries(values).flatMap(([field, value]) => (value === null ? [field] : []))
    assert.deepEqual(gaps.flatMap(({ fields }) => fields).sort(), unknown.sort(), name)
  }

  for (const app of ['alpha', 'beta']) {
    const { totals, services } = await get<AppGpuAnswer>(`apps/${app}/gpu`)
    assert.deepEqual([totals.gpus, totals.sharedGpus], [2, 2], app)
    assert.deepEqual(totals.powerW, { sum: 2 * SLICED_W, pods: 2, wholeGpus: 2 }, app)
    assert.deepEqual(
      totals.memoryUsedBytes,
      { sum: 2 * 40_000 * MIB, pods: 2, wholeGpus: 2 },
      'of the devices, each once',
    )
    assert.equal(services[0]?.gpus, 2)
    assert.equal(services[0]?.deviceValues['gpu-power-w']?.avg, SLICED_W)
    assert.deepEqual(services[0]?.missing, [])
  }
  const { totals } = await get<AppGpuAnswer>('apps/detector/gpu')
  assert.deepEqual(
    [totals.gpus, totals.powerW, totals.memoryUsedBytes?.sum],
    [1, { sum: BOARD_W, pods: 1, wholeGpus: 1 }, 20_210 * MIB],
  )

  const { apps, total } = await get<AppsAnswer>('apps')
  const ofCluster = apps.filter(({ name }) => ['alpha', 'beta', 'detector', 'ranker'].includes(name))
  assert.deepEqual(
    ofCluster.map(({ gpus, sharedGpus, powerW }) => [gpus, sharedGpus, powerW]),
    [...Array.from({ length: 2 }, () => [2, 2, 2 * SLICED_W]), ...Array.from({ length: 2 }, () => [1, 0, BOARD_W])],
  )
  const sum = (numberOf: (app: AppsAnswer['apps'][number]) => number) =>
    apps.reduce((all, app) => all + numberOf(app), 0)
  assert.equal(total.gpus, sum(({ gpus }) => gpus) - 2, 'two GPUs are in two apps each')
  const twiceW = 2 * SLICED_W + BOARD_W
  assert.ok(Math.abs((total.powerW ?? 0) - (sum(({ powerW }) => powerW ?? 0) - twiceW)) < 1e-6, `${total.powerW}`)
}

/** What `sonde ps` prints of the cluster. */
export function assertSharedText(output: string): void {
  const row = (pod: string) => output.split('\n').find((line) => line.includes(` ${pod} `)) ?? ''
  assert.match(row('notebook-0'), / 60\.0% +24\.4GiB +78\.7GiB\* .* 300W\* /)
  assert.match(row('segment-a'), / - +19\.7GiB .* 402W\* /)
  assert.match(output, /notebook-0, .*: shared with 1 other pod$/m)
  assert.match(output, /^\* of the whole GPU, which other pods or instances use too$/m)
}
