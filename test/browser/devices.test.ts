import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IncidentsAnswer } from '@sonde/sdk/api'
import type { Locator, Page, Route } from 'playwright-core'
import { ask } from '../ask.ts'
import { needs } from '../debian.ts'
import { until } from '../sonde-process.ts'
import { assertSound } from './axe.ts'
import { SCREENS, SHOW_LIMIT_MS, type Stage, shareStage, takePicture, untilDrawn } from './browser.ts'
import { cutWords } from './cut.ts'

/** How much the content may move by itself while it loads, as browsers count it. */
const SHIFT_MAX = 0.02
/** A window that is higher than any page. Unit: CSS pixels. */
const TALL_PX = 4000

/** One device of the server's answer, as far as tests change it. */
interface Device {
  readonly id: string
  readonly kind: string
  readonly rail: number | null
}

test('the devices of a simulated node', needs('chromium-headless-shell'), async (t) => {
  const stage = await shareStage(t, ['--only-simulated'])

  await t.test('the overview says that all is well, with every device in its rail', async () => {
    await stage.visit('/', async (page) => {
      await saidOf(page, /^All 17 devices are in range\.$/).waitFor()
      for (let rail = 0; rail < 8; rail++) {
        const gpu = await boxOf(page, new RegExp(`^GPU ${rail}\\b`))
        const nic = await boxOf(page, new RegExp(`^NIC ${rail}\\b`))
        assert.equal(gpu.x, nic.x, `GPU and NIC of rail ${rail} stand in one column`)
        assert.ok(gpu.y < nic.y)
      }
      await page.getByRole('link', { name: /^PCIe Gen5 ×16 · \d+\s%, switch .*GPU 0, NIC 0$/ }).waitFor()
      const titles = await page.locator('.chart .panel-title').allInnerTexts()
      assert.deepEqual(titles, ['SM active', 'Tensor active', 'Power', 'Sent', 'Sequence errors', 'Retransmissions'])
    })
  })

  await t.test('nothing moves when the data come', async () => {
    const look = async (page: Page): Promise<void> => {
      await saidOf(page, /^All 17 devices are in range\.$/).waitFor()
      await untilDrawn(page)
      const shift = await page.evaluate(sumOfShifts)
      assert.ok(shift < SHIFT_MAX, `the content moved by ${shift}`)
    }
    await stage.visit('/', look)
    // A hint that begins or ends is a reason to move: nothing is wrong with the GPUs yet.
    await stage.visit('/gpus', async (page) => {
      await untilDrawn(page)
      await assertStill(page, '/gpus')
    })
  })

  await t.test(
    'a tile leads to its device, and that to its link and its neighbour, with the keyboard alone',
    async () => {
      await stage.visit('/', async (page) => {
        await untilDrawn(page)
        await page.getByRole('link', { name: /^GPU 3\b/ }).focus()
        await page.keyboard.press('Enter')
        await page.getByRole('heading', { level: 1, name: 'GPUs / GPU 3' }).waitFor()
        await page.getByText('a kernel was running').first().waitFor()
        await page.getByRole('link', { name: 'NIC 3' }).focus()
        await page.keyboard.press('Enter')
        await page.getByRole('heading', { level: 1, name: 'Fabric / NIC 3' }).waitFor()
        await page.getByRole('link', { name: 'PCIe link' }).focus()
        await page.keyboard.press('Enter')
        await page.getByRole('heading', { level: 1, name: /0000:5c:00\.0$/ }).waitFor()
        await page.getByRole('region', { name: 'Table of the path' }).getByText('NIC 3').waitFor()
        await page.keyboard.press('g')
        await page.keyboard.press('g')
        await page.getByRole('heading', { level: 1, name: 'GPUs' }).waitFor()
        await page.locator('tbody tr').nth(7).waitFor()
        assert.equal(await page.locator('tbody tr').count(), 8)
      })
    },
  )

  await t.test('what cannot be had says why, and is never 0', async () => {
    await stage.visit('/fabric/sim-nic-mlx5_3-1', async (page) => {
      await untilDrawn(page)
      await page
        .getByRole('region', { name: 'Not available: Congestion' })
        .getByText(/Absent\. The simulated NIC has no data-path accelerator\./)
        .first()
        .waitFor()
      await page.locator('#counter-table').waitFor()
      const table = page.getByRole('region', { name: 'Table of counters' })
      await table.locator('tbody th a').nth(20).waitFor()
      const lineCounts = await table
        .locator('tbody th a')
        .evaluateAll((names) => names.map((name) => name.getClientRects().length))
      assert.ok(
        lineCounts.length > 20 && lineCounts.every((count) => count === 1),
        'a name breaks though there is room',
      )
      // A very long table draws only the rows in view.
      const filter = page.getByRole('searchbox', { name: 'Filter counters' })
      await filter.fill('dpa')
      await table
        .getByText(/^Absent\. /)
        .first()
        .waitFor()
      assert.deepEqual(await withoutWord(table), [])
    })
    await stage.visit('/gpus/gpu-99', async (page) => {
      await page.getByText('No GPU named gpu-99 is known here.').waitFor()
      await assertSound(page)
    })
  })

  await t.test('an address may name a device as people do, and becomes its own', async () => {
    const own: readonly (readonly [asked: string, path: string])[] = [
      ['/gpus/3', '/gpus/sim-gpu-3'],
      ['/gpus/GPU-9568ab13-1071-2e0c-bd01-5904712d8628', '/gpus/sim-gpu-4'],
      ['/pci/0000:ca:00.0', '/pci/sim-pci-0000:ca:00.0'],
      ['/pci/0000%3Aca%3A00.0', '/pci/sim-pci-0000:ca:00.0'],
      ['/fabric/mlx5_3', '/fabric/sim-nic-mlx5_3-1'],
      ['/fabric/mlx5_3/1', '/fabric/sim-nic-mlx5_3-1'],
    ]
    for (const [asked, path] of own) {
      await stage.visit(`${asked}?range=30m&q=link`, async (page) => {
        await page.waitForURL(`${stage.address}${path}?range=30m&q=link`)
        await untilDrawn(page)
        await page.getByRole('region', { name: /^What is so$/ }).waitFor()
        // The name that was asked for is no step on the way back.
        assert.equal(await page.evaluate(() => navigation.entries().length), 1)
      })
    }
    await stage.visit('/fabric/mlx5_3/2', (page) => page.getByText('No NIC named mlx5_3/2 is known here.').waitFor())
    await stage.visit('/fabric/mlx5_99', (page) =>
      page.getByText('No interface or port named mlx5_99 is read here.').waitFor(),
    )
  })

  await t.test('where a name is that of several ports, they are the choice', async (t) => {
    const withSecondPort = (devices: readonly Device[]): readonly object[] =>
      devices.flatMap((device) =>
        device.id === 'sim-nic-mlx5_3-1'
          ? [
              device,
              { ...device, id: 'sim-nic-mlx5_3-2', labels: { rdma_device: 'mlx5_3', port: '2', simulated: 'true' } },
            ]
          : [device],
      )
    await visitChanged(
      stage,
      '/fabric/mlx5_3',
      withSecondPort,
    )(async (page) => {
      await page.getByText('2 ports are named mlx5_3.').waitFor()
      await takePicture(t, page, 'state-two-ports')
      await assertSound(page)
      await page.getByRole('link', { name: 'mlx5_3 port 2' }).click()
      await page.waitForURL(/\/fabric\/sim-nic-mlx5_3-2$/)
    })
  })

  await t.test('a device that left says when, and one without a rail makes plain rows', async (t) => {
    const goneMs = Date.UTC(2026, 8, 21, 14, 3, 11)
    await visitChanged(stage, '/', (devices) =>
      devices.map((device) => (device.id === 'sim-gpu-5' ? { ...device, state: 'gone', goneMs } : device)),
    )(async (page) => {
      await page.getByRole('link', { name: /^GPU 5.*Gone 14:03:11/ }).waitFor()
      await saidOf(page, /^GPU 5 is gone\.$/).waitFor()
      await takePicture(t, page, 'state-gpu-gone')
      await assertSound(page)
    })
    await visitChanged(stage, '/', (devices) =>
      devices.filter(({ kind, rail }) => kind !== 'nic' || rail === null || rail < 6),
    )(async (page) => {
      await page.getByRole('link', { name: /^NIC 5\b/ }).waitFor()
      assert.equal(await page.getByRole('list', { name: 'PCIe links' }).count(), 0)
      await takePicture(t, page, 'state-uneven-rails')
      await assertSound(page)
    })
  })

  await t.test('says that a window holds no sample, and leads back', async () => {
    await stage.visit('/?from=2026-02-01T10:00:00Z&to=2026-02-01T10:05:00Z', async (page) => {
      await page.getByText('No samples between 2026-02-01 10:00:00 and 2026-02-01 10:05:00 UTC.').waitFor()
      await page.locator('main').getByRole('button', { name: 'Back to live' }).click()
      await saidOf(page, /^All 17 devices are in range\.$/).waitFor()
    })
  })

  await t.test('says why devices are not known', async (t) => {
    const look = async (page: Page): Promise<void> => {
      await page.getByText('The GPUs are not known.').waitFor()
      await takePicture(t, page, 'state-no-devices')
      await assertSound(page)
    }
    const fail = (route: Route): Promise<void> =>
      route.fulfill({ status: 500, json: { error: { code: 'AGT_FAULT', message: 'The list was not made.' } } })
    await stage.visit('/gpus', look, {
      expected: /^console: Failed to load resource/,
      before: (page) => page.route('**/api/v1/devices', fail),
    })
  })

  await t.test('a NIC that loses packets is marked, leads to its evidence, and its look-alikes are not', async (t) => {
    await stage.visit('/', async (page) => {
      await saidOf(page, /^All 17 devices are in range\.$/).waitFor()
      await page.request.post(`${stage.address}/api/v1/simulator/scenarios`, {
        // It lasts until the page of its incident has been looked at.
        data: { name: 'retransmission-storm', device: 'sim-nic-mlx5_3-1', durationS: 240 },
        headers: { 'content-type': 'application/json' },
      })
      await saidOf(page, /^NIC 3 is losing packets, for/).waitFor()
      await until('the tile of NIC 3 is critical', SHOW_LIMIT_MS, async () => (await marked(page)).join() === 'NIC 3')
      await page.locator('.chart-flag[title$=": NIC 3 is losing packets"]').first().waitFor()
      await page.getByRole('link', { name: 'Affected by the incident: NIC 3 is losing packets' }).first().waitFor()
      await takePicture(t, page, 'simulated-overview-loss')
      await assertSound(page)
      await page.getByRole('link', { name: 'See the evidence' }).click()
      await page.getByRole('heading', { level: 1, name: 'Explorer' }).waitFor()
      await page.getByText('rdma_hw_packet_seq_err_total').first().waitFor()
    })
  })

  await t.test('once a page is drawn nothing moves, and the strip hatches the time before the start', async () => {
    const { incidents } = await ask<IncidentsAnswer>(stage, '/api/v1/incidents?state=open')
    const { id, startMs } = incidents.find(({ rule }) => rule === 'retransmission_storm')!
    const past = `/?from=${new Date(startMs - 30_000).toISOString()}&to=${new Date(startMs + 2_000).toISOString()}`
    for (const path of ['/', past, '/host', '/fabric', '/incidents', '/gpus/sim-gpu-3']) {
      await stage.visit(path, async (page) => {
        await untilDrawn(page)
        await assertStill(page, path)
      })
    }
    // All of a page is in view, so that lists below the fold count too.
    for (const [path, { width }] of [
      [`/incidents/${id}`, SCREENS.desk],
      [`/incidents/${id}`, SCREENS.phone],
      ['/sources', SCREENS.desk],
      ['/settings', SCREENS.desk],
    ] as const) {
      const look = async (page: Page): Promise<void> => {
        await untilDrawn(page)
        await assertStill(page, path)
      }
      await stage.visit(path, look, { viewport: { width, height: TALL_PX } })
    }
    await stage.visit('/', async (page) => {
      const before = page.locator('.time-strip-gap').first()
      await before.waitFor()
      const hatch = await before.evaluate((element) => getComputedStyle(element).backgroundImage)
      assert.match(hatch, /^repeating-linear-gradient/, 'the time before the start is hatched in the strip')
    })
  })

  await t.test('the page of a GPU that fell off the bus says when and why, and what was last known', async (t) => {
    await ask(stage, '/api/v1/simulator/scenarios', { name: 'gpu-lost', device: 'sim-gpu-6' })
    await stage.visit('/gpus/sim-gpu-6', async (page) => {
      await page
        .getByText(/Gone \d\d:\d\d:\d\d\. The GPU has fallen off the bus\./)
        .first()
        .waitFor()
      const facts = page.getByRole('region', { name: 'GPU 6 as it was last known' })
      await facts.waitFor()
      await until('the last XID', SHOW_LIMIT_MS, async () => /Last XID\s+79, 154/.test(await facts.innerText()))
      assert.match(await facts.innerText(), /Power\s+\d+\s+W/)
      const counters = page.getByRole('region', { name: 'Table of counters' })
      await counters
        .getByText(/^Gone \d\d:\d\d:\d\d\. The GPU has fallen/)
        .first()
        .waitFor()
      assert.deepEqual(await withoutWord(counters), [])
      assert.ok((await page.locator('.chart .panel-title').count()) > 6, 'its history is drawn')
      await page
        .locator('.chart .badge', { hasText: /^Stale \d+\s(s|min)$/ })
        .first()
        .waitFor()
      await page.getByText('a kernel was running').last().waitFor()
      assert.deepEqual(await cutWords(page), [], 'a badge leaves captions whole')
      await takePicture(t, page, 'state-gpu-gone-page')
      await assertSound(page)
    })
  })

  await t.test('with a GPU lost a time still stands in one column, and all count as many GPUs', async () => {
    await stage.visit('/', async (page) => {
      await untilDrawn(page)
      const ofGpus = page.getByRole('region', { name: 'SM active', exact: true })
      await ofGpus.getByText(/7 of 8\sGPUs/).waitFor()
      await until('charts', SHOW_LIMIT_MS, async () => (await page.locator('.u-over').count()) === 6)
      const places = await page.locator('.u-over').evaluateAll((plots) =>
        plots.map((plot) => {
          const { left, width } = plot.getBoundingClientRect()
          return `${Math.round(left - plot.closest('.chart')!.getBoundingClientRect().left)} ${Math.round(width)}`
        }),
      )
      assert.equal(new Set(places).size, 1, `plots from and as wide as: ${places.join(', ')}`)
      assert.match(await page.locator('.place-hardware').innerText(), /^8 × H100/)
      assert.match(await page.getByRole('navigation').getByRole('link', { name: /^GPUs/ }).innerText(), /8/)
    })
  })
})

/** The sentence at the top of the page. */
function saidOf(page: Page, sentence: RegExp): Locator {
  return page.locator('.headline-sentence').getByText(sentence)
}

/** Rows of a table of counters that have neither a value nor a reason for its absence. */
function withoutWord(table: Locator): Promise<string[]> {
  return table.locator('tbody tr', { hasText: 'No value came yet' }).allInnerTexts()
}

/** Nothing of a page moves for two seconds. */
async function assertStill(page: Page, path: string): Promise<void> {
  await page.evaluate(watchShifts)
  const seconds = () => page.evaluate(() => Math.floor(performance.now() / 1000))
  const second = await seconds()
  await until('two other seconds', SHOW_LIMIT_MS, async () => (await seconds()) - second >= 2)
  assert.deepEqual(await page.evaluate(() => (window as unknown as Shifts).shifts), [], `${path} moved`)
}

/** Names of the tiles that are marked as at fault. */
function marked(page: Page): Promise<string[]> {
  return page.locator('.tile.is-critical .tile-name, .tile.is-warning .tile-name').allInnerTexts()
}

async function boxOf(page: Page, name: RegExp): Promise<{ readonly x: number; readonly y: number }> {
  const box = await page.getByRole('link', { name }).first().boundingBox()
  assert.ok(box)
  return { x: Math.round(box.x), y: Math.round(box.y) }
}

/** Visits a page whose devices are others than the server says. */
function visitChanged(
  stage: Pick<Stage, 'visit'>,
  path: string,
  change: (devices: readonly Device[]) => readonly object[],
): (look: (page: Page) => Promise<void>) => Promise<void> {
  const answer = async (route: Route): Promise<void> => {
    const response = await route.fetch()
    const { nowMs, devices } = (await response.json()) as { nowMs: number; devices: readonly Device[] }
    await route.fulfill({ json: { nowMs, devices: change(devices) } })
  }
  return (look) => stage.visit(path, look, { before: (page) => page.route('**/api/v1/devices', answer) })
}

/** A shift of the layout, as browsers report it. */
interface ShiftEntry extends PerformanceEntry {
  readonly value: number
  readonly sources: readonly { readonly node?: Node; readonly previousRect: DOMRect; readonly currentRect: DOMRect }[]
}

/** What {@link watchShifts} leaves in the page. */
interface Shifts {
  readonly shifts: string[]
}

/** Runs in the page: notes what moves by itself from now on, and by how much. */
function watchShifts(): void {
  const shifts: string[] = []
  Object.assign(window, { shifts })
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as ShiftEntry[]) {
      // A number that becomes wider, or a font that arrives, moves words within their line. Nothing else may move.
      const moved = entry.sources.flatMap(({ node, previousRect, currentRect }) => {
        const element = node instanceof Element ? node : node?.parentElement
        const isInLine = Math.abs(previousRect.y - currentRect.y) < 1
        return element && !isInLine && !element.closest('.readouts, .live') ? [element.className] : []
      })
      if (moved.length > 0) shifts.push(`${entry.value}: ${moved.join(', ')}`)
    }
  }).observe({ type: 'layout-shift' })
}

/** Runs in the page: adds up how much its content moved by itself since it was opened. */
function sumOfShifts(): number {
  const observer = new PerformanceObserver(() => undefined)
  observer.observe({ type: 'layout-shift', buffered: true })
  return observer.takeRecords().reduce((sum, entry) => sum + (entry as PerformanceEntry & { value: number }).value, 0)
}
