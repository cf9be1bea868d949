import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { ask } from '../ask.ts'
import { needs } from '../debian.ts'
import { until } from '../sonde-process.ts'
import { assertSound } from './axe.ts'
import { SCREENS, type Stage, takePicture, untilDrawn } from './browser.ts'
import { startSimulatedStage } from './simulated.ts'

const DEVICE = 'mlx5_2'
const TITLE = 'Timeouts of adaptive retransmission'
const QUERY = {
  metric: 'doca_adp_retx_timeout_seconds',
  function: 'rate',
  matchers: [
    { label: 'rdma_device', op: '=', value: DEVICE },
    { label: 'simulated', op: '=', value: 'true' },
  ],
}
/** Seconds on either side of the gap that are looked at. */
const SIDE_S = 8
/** How long nothing is sampled. Unit: milliseconds. */
const GAP_MS = 6000
/** Steps of the scale above nothing. */
const STEPS = 15

interface Answer {
  readonly times: readonly number[]
  readonly results: readonly {
    readonly series: readonly {
      readonly bin: { readonly above: number | null; readonly upTo: number | null }
      readonly values: readonly (number | null)[]
    }[]
  }[]
}

/** What was counted of one device, lowest bin first, over a window that has passed. */
interface Counted {
  readonly fromMs: number
  readonly toMs: number
  readonly times: readonly number[]
  readonly bins: readonly (readonly (number | null)[])[]
}

/** The rates of a device that times out before and after the agent was restarted. */
async function countAround(stage: Stage): Promise<Counted> {
  await startStorm(stage)
  const fromMs = await firstRate(stage, 0)
  await until('some seconds of timeouts', 60_000, () => Date.now() > fromMs + SIDE_S * 1000)
  await stage.sonde.stop()
  const stoppedMs = Date.now()
  await until('more than five periods without a sample', 60_000, () => Date.now() > stoppedMs + GAP_MS)
  await stage.restart()
  await startStorm(stage)
  const againMs = await firstRate(stage, Date.now())
  const toMs = againMs + SIDE_S * 1000
  await until('the window to be over', 60_000, () => Date.now() > toMs + 3000)
  const { times, results } = await rates(stage, fromMs, toMs)
  return { fromMs, toMs, times, bins: results[0]?.series.map(({ values }) => values) ?? [] }
}

async function startStorm(stage: Stage): Promise<void> {
  const scenario = { name: 'retransmission-storm', device: `sim-nic-${DEVICE}-1`, durationS: 600 }
  await ask(stage, '/api/v1/simulator/scenarios', scenario)
}

function rates(stage: Stage, fromMs: number, toMs: number): Promise<Answer> {
  return ask<Answer>(stage, '/api/v1/query', { fromMs, toMs, stepMs: 1000, queries: [QUERY] })
}

/** The first full second after a time in which any bin had a rate. */
function firstRate(stage: Stage, afterMs: number): Promise<number> {
  return until('timeouts', 60_000, async () => {
    const nowMs = Date.now()
    const { times, results } = await rates(stage, Math.max(afterMs, nowMs - 20_000), nowMs + 1)
    const first = times.findIndex((_, i) => results[0]?.series.some(({ values }) => (values[i] ?? 0) > 0))
    return first >= 0 && times[first]
  })
}

/** Where a cell is looked at, as shares of it: marks of restarts and hints may cover a part. */
const LOOKS = [0.3, 0.5, 0.7].flatMap((x) => [0.3, 0.5, 0.7].map((y) => ({ x, y })))

/** Steps of the scale that are seen in every cell, by bin and time, -1 for none; and the colours of the scale. */
async function drawnSteps(chart: Locator, { fromMs, toMs, times, bins }: Counted) {
  const canvas = chart.locator('canvas').first()
  const [over, outer] = [await chart.locator('.u-over').boundingBox(), await canvas.boundingBox()]
  assert.ok(over && outer)
  const places = bins.map((_, bin) =>
    times.map((timeMs) =>
      LOOKS.map((look) => ({
        x: over.x - outer.x + ((timeMs - 1000 * (1 - look.x) - fromMs) / (toMs - fromMs)) * over.width,
        y: over.y - outer.y + (1 - (bin + look.y) / bins.length) * over.height,
      })),
    ),
  )
  return canvas.evaluate(readSteps, { places, steps: STEPS })
}

/** Runs in the page. */
function readSteps(
  canvas: Element,
  { places, steps }: { places: readonly (readonly (readonly { x: number; y: number }[])[])[]; steps: number },
) {
  const { width, height, style } = canvas as HTMLCanvasElement
  const ratio = width / Number.parseFloat(style.width || String(width))
  const shown = (canvas as HTMLCanvasElement).getContext('2d')?.getImageData(0, 0, width, height).data
  const small = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
  const probe = document.createElement('span')
  document.body.append(probe)
  const scale = Array.from({ length: steps + 1 }, (_, step) => {
    const share = (100 * (step - 1)) / (steps - 1)
    const colour = `color-mix(in oklab, var(--heat-high) ${share}%, var(--heat-low))`
    probe.style.color = step === 0 ? 'var(--heat-none)' : colour
    if (small) small.fillStyle = getComputedStyle(probe).color
    small?.fillRect(0, 0, 1, 1)
    return String(small?.getImageData(0, 0, 1, 1).data)
  })
  probe.remove()
  const at = ({ x, y }: { x: number; y: number }): number => {
    const pixel = Math.min(height - 1, Math.floor(y * ratio)) * width + Math.min(width - 1, Math.floor(x * ratio))
    return scale.indexOf(String(shown?.slice(4 * pixel, 4 * pixel + 4)))
  }
  return { scale, cells: places.map((bin) => bin.map((looks) => looks.map(at))) }
}

async function stripOf(page: Page): Promise<Locator> {
  const chart = page.getByRole('region', { name: TITLE, exact: true })
  await chart.scrollIntoViewIfNeeded()
  await untilDrawn(page)
  return chart
}

test('a heat strip draws what was counted in each bin', needs('chromium-headless-shell'), async (t) => {
  const stage = await startSimulatedStage(t)
  const counted = await countAround(stage)
  const { fromMs, toMs, times, bins } = counted
  assert.ok(bins.length > 10)
  assert.ok(
    times.some((_, i) => bins.every((values) => values[i] === null)),
    'there is a gap',
  )
  const words = `from=${new Date(fromMs).toISOString()}&to=${new Date(toMs).toISOString()}`
  const address = `/fabric/sim-nic-${DEVICE}-1?${words}`

  for (const colorScheme of ['light', 'dark'] as const) {
    await t.test(`every cell has the colour of its rate, and a gap none, ${colorScheme}`, async (t) => {
      await stage.visit(
        address,
        async (page) => {
          const chart = await stripOf(page)
          const group = chart.getByRole('group')
          await page.waitForFunction(
            (element) => /Colours from 0/.test(element?.getAttribute('aria-label') ?? ''),
            await group.elementHandle(),
          )
          const sentence = (await group.getAttribute('aria-label')) ?? ''
          const top = Number(/Colours from 0 to ([\d.]+)\/s/.exec(sentence)?.[1])
          assert.ok(top > 0, sentence)
          const { scale, cells } = await drawnSteps(chart, counted)
          assert.equal(new Set(scale).size, STEPS + 1, 'every step is a colour of its own')
          for (const [bin, values] of bins.entries()) {
            for (const [i, value] of values.entries()) {
              const place = `bin ${bin} at ${times[i]}: ${value} of ${top}`
              const steps = cells[bin]?.[i] ?? []
              const wanted = value === null ? -1 : value === 0 ? 0 : 1 + Math.floor(Math.sqrt(value / top) * STEPS)
              if (value === null) assert.deepEqual(new Set(steps), new Set([wanted]), place)
              else assert.ok(steps.includes(Math.min(STEPS, wanted)), `${place}: step ${wanted}, not ${steps}`)
            }
          }
          await takePicture(t, page, `heat-strip-${colorScheme}`)
          await assertSound(page, { contrastOnly: colorScheme === 'dark' })
        },
        { colorScheme },
      )
    })
  }

  await t.test('the pointer reads a bin, and the table has all of them', async () => {
    await stage.visit(address, async (page) => {
      const chart = await stripOf(page)
      const bin = bins.findIndex((values) => values.some((value) => (value ?? 0) > 0))
      const place = bins[bin]?.findIndex((value) => (value ?? 0) > 0) ?? -1
      const over = await chart.locator('.u-over').boundingBox()
      assert.ok(over)
      const x = over.x + (((times[place] ?? 0) - fromMs) / (toMs - fromMs)) * over.width
      await page.mouse.move(x, over.y + over.height * (1 - (bin + 0.5) / bins.length))
      const tip = chart.locator('.chart-tip')
      await tip.waitFor()
      const [name, rate] = (await tip.innerText()).split(': ')
      assert.match(rate ?? '', /^[\d.]+\/s$/)

      await chart.getByRole('group').focus()
      await page.keyboard.press('t')
      const heads = await chart.getByRole('columnheader').allInnerTexts()
      assert.equal(heads.length, 1 + bins.length)
      assert.match(heads[1] ?? '', /^up to 100.µs/)
      assert.match(heads.at(-1) ?? '', /^over 1\.64.s/)
      assert.ok(heads[1 + bin]?.startsWith(name ?? '?'), `${heads[1 + bin]} and ${name}`)
    })
  })

  await t.test('on a phone the strip fits, and the arrow keys say what was counted', async () => {
    await stage.visit(
      address,
      async (page) => {
        const chart = await stripOf(page)
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
        assert.ok(over <= 0)
        await chart.getByRole('group').focus()
        await page.keyboard.press('ArrowLeft')
        const said = chart.locator('[aria-live]')
        await page.waitForFunction((element) => element?.textContent !== '', await said.elementHandle())
        assert.match(await said.innerText(), /(\/s|nothing counted)$/)
      },
      { viewport: SCREENS.phone },
    )
  })
})
