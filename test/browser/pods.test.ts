import assert from 'node:assert/strict'
import { renameSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Route } from 'playwright-core'
import type { TestPod, TestPods } from '../../packages/agent/test/pod-source.ts'
import { needs } from '../debian.ts'
import { temporaryDir } from '../sonde-process.ts'
import { startStage, takePicture } from './browser.ts'
import { assertTame, hostileName, hostilePodName } from './hostile.ts'
import { lookEverywhere } from './look-everywhere.ts'
import { factOf } from './shown-numbers.ts'

const MAIN = fileURLToPath(new URL('pods-main.ts', import.meta.url))
const GIB = 2 ** 30
const STARTED_S = Math.floor(Date.now() / 1000) - 90_000

const VALUES = {
  ...{ gpu_util: 80, power_usage: 400, fb_used: 40_960, fb_free: 36_000, fb_reserved: 1_000 },
  ...{ pipe_tensor_active: 0.31, sm_active: 0.62, dram_active: 0.44, pipe_fp16_active: 0.12, pipe_fp32_active: 0.05 },
}
const gpu = (UUID: string, values: TestPod['gpus'][number]['values'] = VALUES) => ({ UUID, values })
const here = { node: hostname(), phase: 'Running', via: 'kubelet', startedS: STARTED_S }

/** A pod with everything: two GPUs, processes, an RDMA device of its own and a virtual interface. */
const FULL: TestPod = {
  ...{ app: 'pretrain', service: 'worker', pod: 'trainer-0', ...here },
  gpus: [gpu('GPU-a'), gpu('GPU-b', { ...VALUES, gpu_util: 60, power_usage: 350 })],
  more: [
    {
      type: 'pod_nic',
      fields: {
        ...{ interface: 'net1', driver: 'mlx5_core', pci_address: '0000:9a:00.2', rdma_device: 'mlx5_4', own: 1 },
        ...{ physical_function: '0000:9a:00.0', host_interface: 'eth3_0', via: 'network namespace' },
      },
    },
    {
      type: 'pod_nic',
      fields: {
        interface: 'eth0',
        driver: 'veth',
        host_interface: 'cali12',
        own: 0,
        no_counters: 'the interface is virtual',
      },
    },
    ...['GPU-a', 'GPU-b'].map((UUID) => ({ type: 'nvml_gpu_info' as const, fields: { gpu: UUID, UUID } })),
    { type: 'rdma_port', fields: { rdma_device: 'mlx5_4', port: 1 } },
    ...[0, 1].map((at) => ({
      type: 'gpu_process' as const,
      fields: {
        ...{ container: 'main', UUID: at === 0 ? 'GPU-a' : 'GPU-b', pid: 4100 + at, process: 'python3' },
        ...{ util_ratio: 0.8 - at / 5, memory_used_bytes: (40 - at) * GIB },
      },
    })),
  ],
}
/** Two pods that share a GPU. */
const SHARING = [0, 1].map(
  (at): TestPod => ({ ...{ app: 'lab', service: 'notebook', pod: `notebook-${at}`, ...here }, gpus: [gpu('GPU-c')] }),
)
const WAITING: TestPod = {
  ...{ app: 'chat', service: 'decode', pod: 'decode-0', ...here, phase: 'Pending', waiting: 'ImagePullBackOff' },
  ...{ requested: 2, gpus: [] },
}
const FAR: TestPod = {
  ...{ app: 'far', service: 'batch', pod: 'batch-0', ...here, node: 'node-b' },
  requested: 1,
  gpus: [],
}
const PODS = [FULL, ...SHARING, WAITING, FAR]
/** All names of this pod come from a stranger. Another pod shares its GPU, and a third runs on another node. */
const HOSTILE = {
  ...{ app: hostileName('app'), service: hostileName('service'), pod: hostilePodName('pod'), ...here },
  ...{ namespace: hostilePodName('namespace'), waiting: hostileName('waiting') },
  gpus: [gpu(hostileName('gpu'))],
  more: [
    {
      type: 'pod_nic',
      fields: {
        ...{ interface: hostileName('interface'), driver: hostileName('driver'), pci_address: hostileName('pci') },
        ...{ rdma_device: hostileName('rdma'), own: 0, no_counters: hostileName('reason') },
        ...{ physical_function: hostileName('function'), host_interface: hostileName('host') },
      },
    },
    {
      type: 'gpu_process',
      fields: {
        ...{ container: hostileName('container'), UUID: hostileName('gpu'), pid: 4200 },
        ...{ process: '<i>x\u202e\u0001', util_ratio: 0.8, memory_used_bytes: GIB },
      },
    },
  ],
} satisfies TestPod
const SHARER: TestPod = { ...HOSTILE, pod: hostilePodName('sharer'), more: [] }
const ELSEWHERE: TestPod = { ...HOSTILE, pod: hostilePodName('far'), node: hostileName('node'), gpus: [], more: [] }

test(
  'apps are listed by their trouble, and the page of a pod says all about it',
  needs('chromium-headless-shell'),
  async (t) => {
    const { path, remove } = temporaryDir()
    t.after(remove)
    const file = join(path, 'pods.json')
    const set = (pods: TestPods) => {
      writeFileSync(`${file}.new`, JSON.stringify(pods))
      renameSync(`${file}.new`, file)
    }
    set({ pods: PODS })
    const stage = await startStage(t, [], { main: MAIN, env: { PODS_FILE: file } })

    await stage.visit('/apps', async (page) => {
      const rows = page.getByRole('region', { name: 'Table of apps' }).getByRole('row')
      await rows.nth(4).waitFor()
      await page.getByText('on another node').waitFor()
      const apps = await rows.locator('th[scope=row]').allInnerTexts()
      assert.deepEqual(apps, ['chat', 'far', 'lab', 'pretrain'])
      const chat = await rows.nth(1).innerText()
      assert.match(chat, /ImagePullBackOff/)
      assert.ok(chat.includes(hostname()), chat)
      await lookEverywhere(t, page, 'apps-sick')
      await page.getByRole('link', { name: 'trainer-0' }).focus()
      await page.keyboard.press('Enter')
      await page.waitForURL(/\/pods\/ml\/trainer-0/)

      await page.getByText('The pod holds 2 GPUs at 70').waitFor()
      const state = page.getByRole('region', { name: 'State of the pod' })
      for (const [name, value, caption] of [
        ['Phase', 'Running', 'nothing waits'],
        ['Node', hostname(), ''],
        ['App', 'pretrain', 'label app, API server'],
        ['Service', 'worker', 'label service, API server'],
        ['GPUs', '2', 'its own'],
      ] as const) {
        const fact = await factOf(state, name)
        assert.ok(fact.startsWith(value) && fact.includes(caption), `${name}: ${fact}`)
      }
      const numbers = page.getByRole('region', { name: 'Numbers of the GPUs of the pod' })
      for (const [name, value] of [
        ['Utilisation', '70.0 %'],
        ['Memory used', '80.0 GiB'],
        ['Tensor active', '31.0 %'],
        ['Power', '750 W'],
      ] as const)
        assert.ok((await factOf(numbers, name)).startsWith(value), `${name}: ${await factOf(numbers, name)}`)
      const processes = await page.getByRole('region', { name: 'Table of processes' }).getByRole('row').allInnerTexts()
      assert.match(processes[1] ?? '', /python3 4100\s+80\.0\s%\s+40\.0\sGiB\s+GPU-a|python3 4100[\s\S]*80[\s\S]*40\.0/)
      await page.getByRole('region', { name: 'Table of interfaces' }).getByText('net1').waitFor()
      const nics = await page.getByRole('region', { name: 'Table of interfaces' }).getByRole('row').allInnerTexts()
      assert.match(nics.join('\n'), /eth0\s+The interface is virtual.[\s\S]*net1\s+of this pod alone\s+mlx5_4/)
      await page.getByRole('heading', { name: 'RDMA traffic' }).waitFor()
      const evidence = await page.getByRole('region', { name: 'Table of evidence' }).innerText()
      assert.match(evidence, /GPUs\s+certain\s+Reported by kubelet, as nvidia\.com\/gpu\./)
      await lookEverywhere(t, page, 'pod-full')
      await page.getByRole('region', { name: 'Table of GPUs' }).getByRole('link').first().focus()
      await page.keyboard.press('Enter')
      await page.waitForURL(/\/gpus\//)
      await page
        .getByText(/^Held by/)
        .getByRole('link', { name: 'trainer-0' })
        .click()
      await page.waitForURL(/\/pods\/ml\/trainer-0/)
    })
    await stage.visit('/pods/ml/notebook-0', async (page) => {
      await page.getByText('shared with 1').waitFor()
      const used = await factOf(page.getByRole('region', { name: 'Numbers of the GPUs of the pod' }), 'Memory used')
      assert.match(used, /of the whole GPU/)
      await page.getByRole('link', { name: 'notebook-1' }).waitFor()
      await page.getByText('mean of its GPUs, which others use too').first().waitFor()
      await lookEverywhere(t, page, 'pod-shared')
    })
    await stage.visit('/entities', async (page) => {
      await page.getByRole('link', { name: 'Pod ml/notebook-0' }).waitFor()
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox').fill('decode-0')
      await page.getByRole('option', { name: /^Pod ml\/decode-0/ }).waitFor()
      await takePicture(t, page, 'pod-search')
      await page.keyboard.press('Enter')
      await page.waitForURL(/\/pods\/ml\/decode-0/)
      await page.goBack()
      await page.getByRole('link', { name: 'Pod ml/notebook-0' }).click()
      await page.waitForURL(/\/pods\/ml\/notebook-0/)
    })
    await stage.visit('/pods/ml/decode-0', async (page) => {
      await page.getByText('ImagePullBackOff.', { exact: true }).waitFor()
      await page.getByText('It does not run yet: ImagePullBackOff; kubectl describe pod says why.').first().waitFor()
      await takePicture(t, page, 'pod-waiting')
    })
    await stage.visit('/pods/ml/batch-0', async (page) => {
      await page.getByText('It runs on node-b, whose GPUs this agent does not read.').first().waitFor()
      await takePicture(t, page, 'pod-elsewhere')
    })
    await stage.visit('/pods/ml/nobody', async (page) => {
      await page.getByText('No GPU pod ml/nobody was here in the last 24 hours.').waitFor()
      await lookEverywhere(t, page, 'pod-unknown')
    })
    let isDown = true
    const busy = (route: Route) =>
      isDown
        ? route.fulfill({ status: 503, json: { error: { code: 'STO_READ', message: 'it is too busy' } } })
        : route.continue()
    await stage.visit(
      '/pods/ml/trainer-0',
      async (page) => {
        await page.getByText('The pod is not known.').waitFor()
        await takePicture(t, page, 'pod-down')
        isDown = false
        await page.getByRole('button', { name: 'Try now' }).click()
        await page.getByText('The pod holds 2 GPUs').waitFor()
        set({ pods: PODS.filter((pod) => pod !== FULL) })
        await page.getByText('This pod ended at').waitFor()
        await page.getByRole('region', { name: 'State of the pod' }).getByText('Ended', { exact: true }).waitFor()
        await page.getByRole('link', { name: 'Show its last 30 minutes' }).click()
        await page.waitForURL(/from=.*to=/)
        const nics = page.getByRole('region', { name: 'Table of interfaces' })
        await nics.getByText('of this pod alone').waitFor()
        await lookEverywhere(t, page, 'pod-ended')
      },
      { expected: /Failed to load resource/, before: (page) => page.route('**/api/v1/pods/**', busy) },
    )

    await t.test('names of a stranger stay texts, and links lead to what they name', async (t) => {
      set({ pods: [HOSTILE, SHARER, ELSEWHERE] })
      await stage.visit('/apps', async (page) => {
        const pod = page.getByRole('link', { name: /^pod<img/ })
        await pod.waitFor()
        await assertTame(t, page, 'apps')
        await pod.click()
        await page.getByRole('region', { name: 'Table of processes' }).getByText('<i>x⟦U+202E⟧⟦U+0001⟧').waitFor()
        await assertTame(t, page, 'pod')
        await page.getByRole('link', { name: /^sharer<img/ }).click()
        await page.getByRole('heading', { level: 1, name: /sharer<img/ }).waitFor()
        await page.getByRole('link', { name: /^pod<img/ }).waitFor()
      })
      await stage.visit('/entities', async (page) => {
        await page
          .getByRole('link', { name: /^Pod namespace<img/ })
          .first()
          .waitFor()
        await assertTame(t, page, 'entities')
      })
    })
  },
)
