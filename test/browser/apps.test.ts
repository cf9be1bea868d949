import assert from 'node:assert/strict'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Route } from 'playwright-core'
import type { TestPod, TestPods } from '../../packages/agent/test/pod-source.ts'
import { ask } from '../ask.ts'
import { needs } from '../debian.ts'
import { temporaryDir, until } from '../sonde-process.ts'
import { SHOW_LIMIT_MS, type Stage, startStage, takePicture, untilDrawn } from './browser.ts'
import { lookEverywhere } from './look-everywhere.ts'
import { namesOfNumbers, rowOfService, rowsOfServices } from './service-rows.ts'
import { assertShown } from './shown-numbers.ts'

const MAIN = fileURLToPath(new URL('pods-main.ts', import.meta.url))
const MIB = 2 ** 20

/** A GPU that differs from all others in every number. */
function gpuOf(index: number): TestPod['gpus'][number] {
  const share = (first: number) => ((first + index * 7) % 100) / 100
  const memory = { fb_used: 1000 + index * 128, fb_free: 9000 - index * 100, fb_reserved: 500 + index }
  const profile = { pipe_tensor_active: share(3), sm_active: share(13), dram_active: share(29) }
  const more = { pipe_fp16_active: share(41), pipe_fp32_active: share(59) }
  const values = { gpu_util: (index * 13) % 100, power_usage: 150 + index * 31, ...memory, ...profile, ...more }
  return { UUID: `GPU-${index}`, values }
}

const pod = (service: string, index: number, gpus: TestPod['gpus'], more: Partial<TestPod> = {}): TestPod => {
  return { app: 'chat', service, pod: `${service}-${index}`, gpus, ...more }
}

/** Two services: pods of two GPUs, and pods of one. */
const PODS: readonly TestPod[] = [
  ...[0, 1].map((index) => pod('prefill', index, [gpuOf(index * 2), gpuOf(index * 2 + 1)])),
  ...[0, 1, 2].map((index) => pod('decode', index, [gpuOf(4 + index)])),
]
const without = (service: string, index: number, more: Partial<TestPod> = {}) =>
  pod(service, index, [{ UUID: `GPU-silent-${index}` }], more)

/** A stage on whose node there are the pods that a test says. */
async function startPods(
  t: TestContext,
  pods: TestPods,
  env: Readonly<Record<string, string>> = {},
): Promise<{ stage: Stage; set: (pods: TestPods) => void }> {
  const { path, remove } = temporaryDir()
  t.after(remove)
  const file = join(path, 'pods.json')
  const set = (pods: TestPods) => {
    writeFileSync(`${file}.new`, JSON.stringify(pods))
    renameSync(`${file}.new`, file)
  }
  set(pods)
  const stage = await startStage(t, [], { main: MAIN, env: { PODS_FILE: file, ...env } })
  return { stage, set }
}

interface RawSeries {
  readonly metric: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: string
}

/** What the page should show of a pod or service, by the words that stand beside it. */
type Numbers = ReadonlyMap<string, number>

/** Raw samples of the GPUs of each pod, as the API of series says: by metric, one number a GPU. */
async function rawOf(stage: Stage): Promise<Map<string, Map<string, number[]>>> {
  const seriesOf = async (type: string) =>
    (await ask<{ series: RawSeries[] }>(stage, `/api/v1/series?type=${type}`)).series
  const raw = [...(await seriesOf('nvml_gpu')), ...(await seriesOf('nvml_profile'))]
  const pods = new Map<string, Map<string, number[]>>()
  for (const { labels } of (await seriesOf('pod_device')).filter(({ metric }) => metric === 'pod_device_present')) {
    const numbers = pods.get(labels.pod ?? '') ?? new Map<string, number[]>()
    pods.set(labels.pod ?? '', numbers)
    for (const { metric, labels: ofGpu, value } of raw) {
      if (ofGpu.UUID !== labels.UUID || value === '') continue
      numbers.set(metric, [...(numbers.get(metric) ?? []), Number(value)])
    }
  }
  return pods
}

const sum = (values: readonly number[] = []) => values.reduce((total, value) => total + value, 0)
const mean = (values: readonly number[] = []) => sum(values) / values.length

/** The nine numbers of a pod, from raw samples of its GPUs. */
function numbersOf(raw: ReadonlyMap<string, number[]>): Numbers {
  const dcgm = (name: string) => raw.get(`DCGM_FI_${name}`)
  const used = sum(dcgm('DEV_FB_USED'))
  return new Map([
    ['Utilisation', mean(dcgm('DEV_GPU_UTIL'))],
    ['Memory used', used * MIB],
    ['Memory in all', (used + sum(dcgm('DEV_FB_FREE')) + sum(dcgm('DEV_FB_RESERVED'))) * MIB],
    ['Tensor active', mean(dcgm('PROF_PIPE_TENSOR_ACTIVE')) * 100],
    ['SM active', mean(dcgm('PROF_SM_ACTIVE')) * 100],
    ['DRAM active', mean(dcgm('PROF_DRAM_ACTIVE')) * 100],
    ['FP16 active', mean(dcgm('PROF_PIPE_FP16_ACTIVE')) * 100],
    ['FP32 active', mean(dcgm('PROF_PIPE_FP32_ACTIVE')) * 100],
    ['Power', sum(dcgm('DEV_POWER_USAGE'))],
  ])
}

test('the numbers of apps, services and pods are those of raw samples', needs('chromium-headless-shell'), async (t) => {
  const { stage } = await startPods(t, { pods: PODS })
  await stage.visit('/apps', async (page) => {
    const row = page.getByRole('region', { name: 'Table of apps' }).getByRole('row', { name: /^chat/ })
    await row.waitFor()
    const cells = await row.locator('td').allInnerTexts()
    const pods = [...(await rawOf(stage)).values()].map(numbersOf)
    assert.deepEqual(cells.slice(3, 8), ['7', '5', '2', 'ml', '–'])
    assertShown(cells[1] ?? '', mean(pods.map((numbers) => numbers.get('Utilisation') ?? Number.NaN)), 'utilisation')
    assertShown(cells[2] ?? '', sum(pods.map((numbers) => numbers.get('Power') ?? Number.NaN)), 'power')
    await lookEverywhere(t, page, 'apps')
    await row.getByRole('link', { name: 'chat' }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/apps\/chat\/gpu/)
    await untilDrawn(page)
    await rowsOfServices(page).nth(1).waitFor()
    const raw = await rawOf(stage)
    for (const service of ['prefill', 'decode']) {
      const ofPods = [...raw].filter(([name]) => name.startsWith(service)).map(([, gpus]) => numbersOf(gpus))
      const row = rowOfService(page, service)
      const names = await namesOfNumbers(page)
      const items = await row.locator('td').all()
      assert.equal(items.length, 9)
      for (const [at, item] of items.entries()) {
        const name = names[at] ?? ''
        const values = ofPods.map((numbers) => numbers.get(name) ?? Number.NaN)
        const shown = await item.locator('.service-value').innerText()
        assertShown(shown, mean(values), `${service} ${name}`)
        const range = await item.locator('.service-note').innerText()
        const [least = '', most = ''] = range === 'all alike' ? [shown, shown] : range.split(' to ')
        assertShown(least, Math.min(...values), `least ${name} of ${service}`)
        assertShown(most, Math.max(...values), `most ${name} of ${service}`)
      }
    }
    const table = page.getByRole('region', { name: 'Table of pods' })
    for (const [name, gpus] of raw) {
      const texts = await table
        .getByRole('row', { name: new RegExp(`^${name}`) })
        .locator('td')
        .allInnerTexts()
      const expected = [...numbersOf(gpus).values()]
      for (const [i, value] of expected.entries()) assertShown(texts[3 + i] ?? '', value, `${name}, column ${i}`)
    }
    await until(
      'four charts with two lines',
      SHOW_LIMIT_MS,
      async () => (await page.locator('.app-charts canvas').count()) >= 4,
    )
    await lookEverywhere(t, page, 'app-gpu')
  })
})

test('an app without numbers says why, and what to do next', needs('chromium-headless-shell'), async (t) => {
  const { stage, set } = await startPods(t, { pods: [] })
  await stage.visit('/apps', async (page) => {
    await page.getByText('No pod holds a GPU here.').waitFor()
    await lookEverywhere(t, page, 'apps-none')
  })
  await stage.visit('/apps/chat/gpu', async (page) => {
    await page.getByText('No pod of chat is known to hold a GPU.').waitFor()
    await lookEverywhere(t, page, 'app-no-pods')
    set({ pods: [without('decode', 0, { startedS: Math.floor(Date.now() / 1000) })] })
    await page.getByText('The pods have just started.').first().waitFor()
    await page.getByRole('region', { name: 'Table of pods' }).getByText('warming').waitFor()
    await lookEverywhere(t, page, 'app-warming')
    set({ pods: [without('decode', 0)] })
    await page.getByText('The pods have run for over 90 seconds').first().waitFor()
    await page.getByText('sonde explain DCGM_FI_DEV_GPU_UTIL').waitFor()
    await lookEverywhere(t, page, 'app-late')
    set({ pods: [pod('decode', 0, [], { requested: 1, startedS: 1_700_000_000 })] })
    await page.getByText('app=nvidia-device-plugin').waitFor()
    set({ pods: PODS })
    await page.getByText('The pods have run').waitFor({ state: 'detached' })
    await rowOfService(page, 'prefill').waitFor()
  })
})

test(
  'pods without utilisation are named above the charts, and left out of the means',
  needs('chromium-headless-shell'),
  async (t) => {
    const starting = without('decode', 9, { startedS: Math.floor(Date.now() / 1000) + 3600 })
    const { stage, set } = await startPods(t, { pods: [...PODS, without('decode', 3), starting] })
    await stage.visit('/apps/chat/gpu', async (page) => {
      await rowsOfServices(page).first().waitFor()
      const banner = page.getByText(/of decode have no utilisation/)
      await page.getByRole('region', { name: 'Table of pods' }).getByText('no utilisation').waitFor()
      assert.equal(await banner.count(), 0, 'one of four is no more than a quarter')
      set({ pods: [...PODS, without('decode', 3), without('decode', 4), starting] })
      await banner.waitFor()
      assert.match(await banner.innerText(), /2 of 6\spods of decode have no utilisation: decode-3, decode-4\./)
      const row = rowOfService(page, 'decode')
      await row.getByText('1 warming').waitFor()
      const util = row.locator('td').first()
      assert.match(await util.innerText(), /3 of 6 pods/)
      const expected = mean([4, 5, 6].map((index) => gpuOf(index).values?.gpu_util ?? Number.NaN))
      assertShown(await util.locator('.service-value').innerText(), expected, 'the mean of those that have it')
      assert.ok((await page.locator('.app-charts canvas').count()) > 0, 'charts are drawn all the same')
      await lookEverywhere(t, page, 'app-partial')
      set({ pods: PODS })
      await banner.waitFor({ state: 'detached' })
    })
  },
)

test(
  'a node that reads no GPUs, and a server that does not answer, are told of',
  needs('chromium-headless-shell'),
  async (t) => {
    const { path, remove } = temporaryDir()
    t.after(remove)
    const config = join(path, 'sonde.yaml')
    writeFileSync(config, 'data_sources:\n  - type: netdev\n')
    const stage = await startStage(t, ['--config', config])
    await stage.visit('/apps/chat/gpu', async (page) => {
      await page.getByText('Nothing here reads GPUs.').waitFor()
      await page.getByText('sonde up --simulate').waitFor()
      await lookEverywhere(t, page, 'app-no-source')
    })
    let isDown = true
    const busy = (route: Route) =>
      isDown
        ? route.fulfill({ status: 503, json: { error: { code: 'STO_READ', message: 'it is too busy' } } })
        : route.continue()
    for (const [address, fact, back] of [
      ['/apps', 'The apps are not known.', 'No pod holds a GPU here.'],
      ['/apps/chat/gpu', 'The GPUs of this app are not known.', 'Nothing here reads GPUs.'],
    ] as const) {
      isDown = true
      await stage.visit(
        address,
        async (page) => {
          await page.getByText(fact).waitFor()
          await lookEverywhere(t, page, `${address.slice(1).replaceAll('/', '-')}-down`)
          isDown = false
          await page.getByRole('button', { name: 'Try now' }).focus()
          await page.keyboard.press('Enter')
          await page.getByText(back).waitFor()
        },
        { expected: /Failed to load resource/, before: (page) => page.route('**/api/v1/apps**', busy) },
      )
    }
  },
)

test(
  'a node whose sources see no GPU, and one whose GPUs may not be read, are told apart',
  needs('chromium-headless-shell'),
  async (t) => {
    for (const [probe, fact, action] of [
      ['absent', 'GPU observability is not enabled; asked: pods_of_test (no GPU).', 'npx sonde explain pods_of_test'],
      ['denied', 'pods_of_test cannot read GPUs', 'npx sonde explain pods_of_test'],
    ] as const) {
      const { stage } = await startPods(t, { probe, pods: [] })
      await stage.visit('/apps', async (page) => page.getByText(fact).waitFor())
      await stage.visit('/apps/chat/gpu', async (page) => {
        await page.getByText(fact).waitFor()
        await page.getByText(action, { exact: true }).waitFor()
        await lookEverywhere(t, page, `app-${probe === 'absent' ? 'no-node' : 'disabled'}`)
      })
    }
  },
)

test(
  'of more services than one answer holds, the page says which are shown',
  needs('chromium-headless-shell'),
  async (t) => {
    // A name as long as Kubernetes lets it be is among them.
    const long = 'text-to-image-inference-service-of-the-second-european-region-b'
    const names = [long, ...Array.from({ length: 16 }, (_, i) => `service-${i}`)]
    const pods = names.map((service, i) => pod(service, i, i < 2 ? [gpuOf(2 * i), gpuOf(2 * i + 1)] : [gpuOf(4 + i)]))
    const { stage } = await startPods(t, { pods }, { SONDE_LIMITS_GPU_METRICS_MAX_PODS: '12' })
    await stage.visit('/apps/chat/gpu', async (page) => {
      await page
        .getByText('The 12 services with the most GPUs are shown; 5 services with 5 pods are left out.')
        .waitFor()
      await rowOfService(page, long).waitFor()
      assert.equal(await rowsOfServices(page).count(), 8)
      await page.getByRole('button', { name: 'Show all 12 services' }).click()
      assert.equal(await rowsOfServices(page).count(), 12)
      await page.getByRole('button', { name: 'Show 8 services' }).click()
      assert.equal(await rowsOfServices(page).count(), 8)
      await until(
        'charts of a herd',
        SHOW_LIMIT_MS,
        async () => (await page.locator('.app-charts canvas').count()) >= 4,
      )
      await lookEverywhere(t, page, 'app-many')
    })
  },
)

test('a pod leads to the pages of its GPUs, and these lead back', needs('chromium-headless-shell'), async (t) => {
  const stage = await startStage(t, ['--only-simulated', '--simulate-class', 'dpu-host'])
  await stage.visit('/apps/pretrain/gpu', async (page) => {
    const row = page.getByRole('region', { name: 'Table of pods' }).getByRole('row', { name: /^trainer-0/ })
    await row.getByRole('link', { name: /^GPU \d$/ }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/gpus\/sim-gpu-\d/)
    for (const title of ['Clocks', 'PCIe', 'Throttle'])
      await page.getByRole('region', { name: title, exact: true }).waitFor()
    const back = page.getByText(/^Held by/).getByRole('link', { name: 'trainer-0' })
    await takePicture(t, page, 'gpu-held')
    await back.focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/pods\/[^/]+\/trainer-0/)
  })
  await stage.visit('/apps/lab/gpu', async (page) => {
    await page
      .getByRole('link', { name: /^GPU \d\/\d+$/ })
      .first()
      .waitFor()
    const head = await page.getByRole('region', { name: 'What is so' }).innerText()
    assert.match(head, /\d\sW of 1\swhole GPU\b/, 'instances have no power of their own')
    assert.match(head, /of GPU memory used/)
    await lookEverywhere(t, page, 'app-mig')
  })
})
