import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { ask } from '../ask.ts'
import { needs } from '../debian.ts'
import { until } from '../sonde-process.ts'
import { assertSound } from './axe.ts'
import { SHOW_LIMIT_MS, takePicture, untilDrawn } from './browser.ts'
import { startSimulatedStage } from './simulated.ts'

/** How long a scenario that strikes at once may take to be seen by rules. */
const HINT_LIMIT_MS = 60_000

interface OpenHint {
  readonly rule: string
  readonly sinceMs: number
}

interface Running {
  readonly running: readonly { readonly name: string; readonly device: string; readonly severity: number }[]
}

test(
  'simulated hardware says so, and its scenarios are started and stopped on the page',
  needs('chromium-headless-shell'),
  async (t) => {
    const stage = await startSimulatedStage(t)
    const running = async () => (await ask<Running>(stage, '/api/v1/simulator')).running

    await t.test('every page has the badge, the strip and the word in its title', async () => {
      for (const path of ['/', '/fabric', '/explore', '/sources', '/explain']) {
        await stage.visit(path, async (page) => {
          await page.getByRole('button', { name: /SIMULATED/ }).waitFor()
          await until('the title', SHOW_LIMIT_MS, async () => (await page.title()).endsWith('(simulated)'))
          const strip = await page.evaluate(() => {
            const style = getComputedStyle(document.querySelector('.shell')!, '::before')
            return { height: style.height, image: style.backgroundImage }
          })
          assert.equal(strip.height, '3px')
          assert.match(strip.image, /repeating-linear-gradient/)
        })
      }
    })

    await t.test('a scenario runs where and as badly as the form says, and ends when it is stopped', async (t) => {
      await stage.visit('/fabric', async (page) => {
        const sheet = await openSheet(page)
        await sheet.getByText('None runs').waitFor()
        await sheet.getByRole('radio', { name: /PFC storm/ }).check()
        await sheet.getByRole('combobox', { name: 'Device' }).selectOption({ label: 'NIC 2 mlx5_2' })
        await sheet.getByLabel(/^Severity/).fill('0.8')
        await sheet.getByLabel(/^Lasts/).fill('90')
        await takePicture(t, page, 'scenarios')
        await assertSound(page)
        await sheet.getByRole('button', { name: 'Start' }).click()
        const entry = sheet.getByRole('region', { name: 'Running scenarios' }).getByRole('listitem')
        await entry.getByText('PFC storm').waitFor()
        assert.match(await entry.innerText(), /NIC 2 mlx5_2 · 0\.8 share of time/)
        await entry.getByText(/1\smin\s(2\d|30)\ss left/).waitFor()
        assert.deepEqual(
          (await running()).map(({ name, device, severity }) => ({ name, device, severity })),
          [{ name: 'pfc-storm', device: 'sim-nic-mlx5_2-1', severity: 0.8 }],
        )
        await sheet.getByRole('button', { name: 'Stop PFC storm' }).click()
        await sheet.getByText('None runs').waitFor()
        assert.deepEqual(await running(), [])
      })
    })

    await t.test('a past window is headed by what held inside it, and one before by nothing of it', async () => {
      const body = JSON.stringify({ name: 'link-flap', device: 'sim-nic-mlx5_5-1', durationS: 30 })
      const headers = { 'content-type': 'application/json', origin: stage.address }
      await fetch(`${stage.address}/api/v1/simulator/scenarios`, { method: 'POST', headers, body })
      const { sinceMs } = await until('the hint', HINT_LIMIT_MS, async () => {
        const { hints } = await ask<{ readonly hints: readonly OpenHint[] }>(stage, '/api/v1/hints')
        return hints.find(({ rule }) => rule === 'link_flap')
      })
      const windowOf = (fromMs: number, toMs: number) =>
        `from=${new Date(sinceMs + fromMs).toISOString()}&to=${new Date(sinceMs + toMs).toISOString()}`
      await until('the end of the window', HINT_LIMIT_MS, () => Date.now() > sinceMs + 2000)
      const headed = async (path: string, words: RegExp) =>
        stage.visit(path, async (page) => {
          const head = page.getByRole('region', { name: 'What is so' })
          await head.getByText(/^In the window /).waitFor()
          await until(`${words} on ${path}`, SHOW_LIMIT_MS, async () => words.test(await head.innerText()))
        })
      await headed(`/?${windowOf(-8000, 2000)}`, /From \d\d:\d\d:\d\d.* NIC 5 (has )?lost its link/)
      await headed(`/fabric?${windowOf(-8000, 2000)}`, /From \d\d:\d\d:\d\d.* NIC 5 (has )?lost its link/)
      // The storm of the test before may still be in the window.
      await headed(`/incidents?${windowOf(-8000, 2000)}`, /[1-9]\sincidents?\./)
      for (const path of ['/', '/incidents'])
        await stage.visit(`${path}?${windowOf(-8000, -2000)}`, async (page) => {
          await page.getByText(/^In the window /).waitFor()
          await untilDrawn(page)
          assert.doesNotMatch(await page.getByRole('main').innerText(), /lost its link|link goes down/)
        })
    })

    await t.test('one that waits says when it begins; what is refused says why', async () => {
      const refused = /Failed to load resource.*409/
      await stage.visit(
        '/fabric',
        async (page) => {
          const sheet = await openSheet(page)
          await sheet.getByRole('radio', { name: /Retransmission storm/ }).check()
          await sheet.getByRole('combobox', { name: 'Device' }).selectOption({ label: 'NIC 1 mlx5_1' })
          await sheet.getByLabel(/^Begins after/).fill('50')
          await sheet.getByRole('button', { name: 'Start' }).click()
          await sheet.getByText(/begins in \d+\ss/).waitFor()
          await sheet.getByRole('button', { name: 'Start' }).click()
          await sheet.getByRole('alert').waitFor()
          assert.notEqual(await sheet.getByRole('alert').innerText(), '')
          await sheet.getByLabel(/^Severity/).fill('7')
          await sheet.getByText('A number from 0.00001 to 0.01.').waitFor()
          assert.equal(await sheet.getByRole('button', { name: 'Start' }).isDisabled(), true)
          await page.keyboard.press('Escape')
          await sheet.waitFor({ state: 'detached' })
        },
        { expected: refused },
      )
    })
  },
)

test(
  'a page of real hardware has neither badge nor strip, and offers the simulated node where there is none',
  needs('chromium-headless-shell'),
  async (t) => {
    const stage = await startSimulatedStage(t, 0)
    await stage.visit('/', async (page) => {
      await untilDrawn(page)
      assert.equal(await page.getByRole('button', { name: /SIMULATED/ }).count(), 0)
      assert.ok(!(await page.title()).includes('simulated'))
    })
    // A machine with hardware of its own is offered nothing.
    const { refusal } = await ask<{ readonly refusal: string }>(stage, '/api/v1/simulator')
    if (refusal !== '') return
    for (const path of ['/', '/gpus', '/apps', '/fabric']) {
      await stage.visit(path, async (page) => {
        await page.getByRole('region', { name: 'Simulated node' }).waitFor()
        await assertSound(page)
      })
    }
    await stage.visit('/fabric', async (page) => {
      await page.getByRole('button', { name: 'Show the simulated node' }).click()
      await page.getByRole('link', { name: /^NIC 3/ }).waitFor()
      await page.getByRole('button', { name: /SIMULATED/ }).waitFor()
      assert.equal(await page.getByRole('region', { name: 'Simulated node' }).count(), 0)
    })
  },
)

async function openSheet(page: Page): Promise<Locator> {
  await page.getByRole('button', { name: /SIMULATED/ }).click()
  const sheet = page.getByRole('dialog', { name: 'Scenarios' })
  await sheet.getByRole('radio').first().waitFor()
  return sheet
}
