import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { AppGpuPod, PodAnswer } from '@sonde/sdk/api'
import { setUpWeb } from '../../scripts/setup.mjs'
import { ask } from '../ask.ts'
import { needs } from '../debian.ts'
import { apiPod } from '../doubles/api-server/api-server-double.ts'
import { podWith } from '../doubles/kubelet/kubelet-double.ts'
import { startPrometheus } from '../interop/prometheus-peer.ts'
import { firstGpu, startPodChain } from '../pod-chain.ts'
import { startSonde, temporaryDir, until } from '../sonde-process.ts'
import { SCREENS, SHOW_LIMIT_MS, startBrowser, takePicture } from './browser.ts'
import { factOf } from './shown-numbers.ts'

const GIB = 2 ** 30
/** UID of a pod whose process uses a GPU that no kubelet gave it. Only the API server names the pod. */
const NOTEBOOK = '7e0c4b9d-3f5a-4d21-9c77-5a1b2c3d4e5f'
const NOTEBOOK_PID = 4711

/** A procfs with one process, in the control group of a pod of which the node knows the UID alone. */
function procfsOf(t: TestContext): { procfs: string } {
  const { path: procfs, remove } = temporaryDir()
  t.after(remove)
  const group = `kubelet-kubepods-burstable-pod${NOTEBOOK.replaceAll('-', '_')}.slice`
  for (const folder of ['self/ns', String(NOTEBOOK_PID)]) mkdirSync(join(procfs, folder), { recursive: true })
  symlinkSync('pid:[4026531836]', join(procfs, 'self/ns/pid'))
  writeFileSync(join(procfs, 'uptime'), '9000.00 1.00\n')
  const ticks = `${'0 '.repeat(18)}50 ${'0 '.repeat(30)}`
  writeFileSync(join(procfs, `${NOTEBOOK_PID}/stat`), `${NOTEBOOK_PID} (python3) S ${ticks}\n`)
  writeFileSync(
    join(procfs, `${NOTEBOOK_PID}/cgroup`),
    `0::/kubelet.slice/${group}/cri-containerd-${'ab'.repeat(32)}.scope\n`,
  )
  return { procfs }
}

/** An answer of kube-state-metrics, with one pod that asks for four GPUs and has no node. */
async function startKubeStateMetrics(t: TestContext): Promise<string> {
  const labels = 'namespace="ml",pod="waits-0",uid="u7"'
  const lines = [
    `kube_pod_container_resource_requests{${labels},container="c",node="",resource="nvidia_com_gpu",unit="integer"} 4`,
    `kube_pod_labels{${labels},label_app="pretrain",label_service="worker"} 1`,
    `kube_pod_status_phase{${labels},phase="Pending"} 1`,
  ]
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/plain; version=0.0.4').end(`${lines.join('\n')}\n`)
  })
  t.after(() => server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`
}

test('the page of a pod is the same at the agent and over a Prometheus that scrapes it, with what others tell', {
  ...needs('cc', 'grpcio', 'protoc', 'prometheus', 'chromium-headless-shell'),
}, async (t) => {
  assert.ok(await setUpWeb(), 'the page could not be built')
  const sources = [{ type: 'kube_state_metrics', interval_ms: 1000, addresses: [await startKubeStateMetrics(t)] }]
  const [at, vgpu] = ['gpu1.process0', 'gpu1.vgpu0']
  const driver = {
    ...{ 'gpu1.processes': 1, [`${at}.pid`]: NOTEBOOK_PID, [`${at}.memory`]: 3 * GIB, [`${at}.sm`]: 30 },
    ...{ 'gpu1.vgpus': 1, [`${vgpu}.sm`]: 60 },
  }
  const { sonde, kubelet, api } = await startPodChain(t, { command: 'up', sources, driver, paths: procfsOf(t) })
  api.put(apiPod('notebook-0', { uid: NOTEBOOK, labels: { app: 'lab' } }))
  kubelet.pods(podWith('trainer-0', [await firstGpu(sonde)]))
  api.put(apiPod('trainer-0', { labels: { app: 'pretrain', service: 'worker' } }))
  const prometheus = await startPrometheus(t, new URL(sonde.address).host, 1, undefined, { honorLabels: true })
  const page = await startSonde(['console', '--prometheus', prometheus.address, '--log-level', 'error'])
  t.after(() => page.stop())
  const answerOf = (server: typeof page, name: string, holds: (pod: AppGpuPod) => boolean) =>
    until(`${name} at ${server.address}`, 60_000, async () => {
      const { pod } = await ask<PodAnswer>(server, `/api/v1/pods/ml/${name}`)
      return pod !== null && holds(pod) && pod
    })
  const isWhole = ({ values, app, node }: AppGpuPod) => values['gpu-util'] === 99 && app === 'pretrain' && node !== ''
  const [here, there] = [await answerOf(sonde, 'trainer-0', isWhole), await answerOf(page, 'trainer-0', isWhole)]
  // Hints, and so the condition, are known by agents alone.
  const shown = ({ app, service, gpus, requested, node, values }: AppGpuPod) => {
    const { 'gpu-mem-used': used, 'gpu-mem-total': total } = values
    return { app, service, gpus, requested, node, used, total }
  }
  assert.deepEqual(shown(there), shown(here))
  assert.deepEqual([here.service, here.gpus, here.requested, here.node], ['worker', 1, 1, 'node-a'])
  for (const server of [sonde, page]) {
    const waiting = await answerOf(server, 'waits-0', ({ requested }) => requested === 4)
    assert.deepEqual([waiting.app, waiting.gpus, waiting.condition.words], ['pretrain', 0, 'not scheduled'])
  }
  // No file of the node names this pod: the UID of its process leads to its name in the API server.
  const { processes } = await until('the process of the notebook', 60_000, async () => {
    const answer = await ask<PodAnswer>(sonde, '/api/v1/pods/ml/notebook-0')
    return answer.pod?.app === 'lab' && answer.processes[0]?.util != null && answer
  })
  assert.deepEqual(
    processes.map(({ pid, uuid, memoryBytes, util }) => [pid, uuid, memoryBytes, util]),
    [[NOTEBOOK_PID, 'GPU-00000001-double', 3 * GIB, 30]],
  )
  await lookAt(t, sonde.address, page.address)
})

/** What a browser shows: the page of a pod over the Prometheus, found by the search, and virtual GPUs at the agent. */
async function lookAt(t: TestContext, agent: string, page: string): Promise<void> {
  const browser = await startBrowser()
  t.after(() => browser.close())
  const tab = await browser.newPage({ viewport: SCREENS.desk })
  tab.setDefaultTimeout(SHOW_LIMIT_MS)
  const problems: string[] = []
  tab.on('pageerror', (error) => problems.push(String(error)))
  await tab.goto(`${page}/apps`)
  await tab.getByRole('heading', { level: 1, name: 'Apps' }).waitFor()
  await tab.keyboard.press('Control+k')
  await tab.getByRole('combobox').fill('trainer-0')
  await tab.getByRole('option', { name: /^Pod ml\/trainer-0/ }).waitFor()
  await tab.keyboard.press('Enter')
  await tab.waitForURL(/\/pods\/ml\/trainer-0/)
  const fact = async (region: string, name: string) => {
    const strip = tab.getByRole('region', { name: region })
    await strip.waitFor()
    return factOf(strip, name)
  }
  assert.match(await fact('State of the pod', 'Node'), /^node-a/)
  assert.match(await fact('State of the pod', 'App'), /^pretrain/)
  assert.match(await fact('Numbers of the GPUs of the pod', 'Utilisation'), /^99\.0 %/)
  await tab.getByRole('region', { name: 'Table of GPUs' }).getByText('GPU-00000000-double').waitFor()
  await takePicture(t, tab, 'pod-over-prometheus')
  await tab.goto(`${agent}/gpus/1`)
  const vgpus = tab.getByRole('region', { name: 'Table of virtual GPUs' }).getByRole('row')
  await vgpus.nth(1).waitFor()
  assert.match(await vgpus.nth(1).innerText(), /vm-0\s+512\s+Double H100-2C\s+60\.0.%\s+100.MiB\s+2\.00.GiB/)
  await takePicture(t, tab, 'vgpus')
  assert.deepEqual(problems, [])
}
