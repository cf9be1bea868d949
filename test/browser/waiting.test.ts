import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page, Route } from 'playwright-core'
import { needs } from '../debian.ts'
import { assertSound } from './axe.ts'
import { shareStage, takePicture, untilDrawn } from './browser.ts'

/** What the page says of hardware that lacks something: only the server can know. */
const CLAIMS = /Absent|not reported|No source|No value|is read\./
const FAILED_REQUEST = /^console: Failed to load resource/

test('what is not answered yet is not called absent', needs('chromium-headless-shell'), async (t) => {
  const stage = await shareStage(t, ['--only-simulated'])

  await t.test('a page that waits for its answers shows labels and outlines, and is not live', async (t) => {
    await stage.visit('/fabric', async (page) => {
      await untilDrawn(page)
      const answers = Promise.withResolvers<void>()
      await page.route(/\/api\/v1\/(query|series)/, async (route: Route) => {
        await answers.promise
        await route.continue()
      })
      await open(page, '/fabric/sim-nic-mlx5_3-1', 'Fabric / NIC 3')
      await page.locator('main [aria-busy="true"]').first().waitFor()
      await page.getByText(/^Waiting \d+\ss$/).waitFor()
      await takePicture(t, page, 'state-waiting-nic')
      assert.doesNotMatch(await page.locator('main').innerText(), CLAIMS)
      await assertSound(page)
      answers.resolve()
      await page.getByRole('region', { name: 'Throughput' }).getByRole('group').waitFor()
      await page.getByText(/^Live$/).waitFor()
      await page.locator('main').getByText('Absent.').first().waitFor()
    })
  })

  await t.test('a server that is silent from the first request on leaves no empty page', async () => {
    const answers = Promise.withResolvers<void>()
    const before = async (page: Page): Promise<void> => {
      await page.route('**/api/v1/**', async (route) => {
        await answers.promise
        await route.continue()
      })
    }
    const look = async (page: Page): Promise<void> => {
      await page
        .getByText(/^Waiting/)
        .first()
        .waitFor()
      await page.getByRole('navigation').getByRole('link', { name: 'GPUs' }).waitFor()
      answers.resolve()
      await page.getByText(/^Live$/).waitFor()
    }
    await stage.visit('/gpus', look, { before })
  })

  await t.test('a page whose answers are refused on the way says that none came', async (t) => {
    const look = async (page: Page): Promise<void> => {
      for (const [path, heading] of [
        ['/gpus/sim-gpu-3', 'GPUs / GPU 3'],
        ['/pci/sim-pci-0000:5c:00.0', 'Fabric / 0000:5c:00.0'],
      ] as const) {
        await page.goto(`${stage.address}/`)
        await untilDrawn(page)
        await page.route('**/api/v1/**', (route) => route.abort())
        await open(page, path, heading)
        await page.locator('main').getByText('No data came.').waitFor()
        await page.getByText(/^(Waiting|No connection)/).waitFor()
        await takePicture(t, page, `state-unanswered-${heading.split(' ')[0]}`)
        assert.doesNotMatch(await page.locator('main').innerText(), CLAIMS)
        await page.unrouteAll()
      }
    }
    await stage.visit('/', look, { expected: FAILED_REQUEST })
  })

  await t.test('a type whose values are awaited makes no claims, on the first look and when it is new', async () => {
    let isNew = false
    let values = Promise.withResolvers<void>()
    const before = async (page: Page): Promise<void> => {
      await page.route('**/api/v1/types', async (route) => {
        const response = await route.fetch()
        const answer = (await response.json()) as { types: readonly { name: string }[] }
        const types = answer.types.filter(({ name }) => isNew || name !== 'doca_phy')
        await route.fulfill({ json: { ...answer, types } })
      })
      await page.route(/\/api\/v1\/series/, async (route) => {
        await values.promise
        await route.continue()
      })
    }
    const look = async (page: Page): Promise<void> => {
      await page.getByText('Waiting for the exact values of the device.').waitFor({ state: 'attached' })
      assert.doesNotMatch(await page.locator('main').innerText(), CLAIMS)
      values.resolve()
      await untilDrawn(page)
      const table = page.getByRole('region', { name: 'Table of counters' })
      // A very long table draws only the rows in view.
      const filter = page.getByRole('searchbox', { name: 'Filter counters' })
      await filter.fill('ecn_marked_packets_total')
      await table.getByText('ecn_marked_packets_total').waitFor()
      await filter.fill('supply_volts')
      values = Promise.withResolvers()
      isNew = true
      await page.waitForRequest(/\/api\/v1\/series\?type=doca_phy$/)
      await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))))
      assert.doesNotMatch(await page.locator('main').innerText(), /No value/)
      values.resolve()
      await table.getByText('supply_volts').waitFor()
      assert.doesNotMatch(await table.innerText(), /No value/)
    }
    await stage.visit('/fabric/sim-nic-mlx5_3-1', look, { before })
  })

  await t.test('going from page to page, no frame says of anything that it is absent which then is there', async () => {
    await stage.visit('/fabric', async (page) => {
      await untilDrawn(page)
      await page.evaluate(collectClaims)
      await open(page, '/fabric/sim-nic-mlx5_3-1', 'Fabric / NIC 3')
      await page.getByRole('region', { name: 'Throughput' }).getByRole('group').waitFor()
      // The last list of the page; the lists of all sections come together.
      await page.getByRole('region', { name: /^Not available: Data-path/ }).waitFor()
      const claimed = await page.evaluate(() => [...(window as unknown as { claims: Set<string> }).claims])
      const held = await page.locator('main').innerText()
      assert.ok(claimed.length > 0, 'no claim was collected')
      assert.deepEqual(
        claimed.filter((claim) => !held.replace(/\s+/g, ' ').includes(claim)),
        [],
      )
    })
  })
})

/** Goes to a page as a link of the page does, without loading it anew. */
async function open(page: Page, path: string, heading: string): Promise<void> {
  await page.evaluate((to) => history.pushState(undefined, '', to), path)
  await page.getByRole('heading', { level: 1, name: heading }).waitFor()
}

/** Runs in the page: keeps every reason that stands in it for as little as one frame. */
function collectClaims(): void {
  const claims = new Set<string>()
  Object.assign(window, { claims })
  new MutationObserver(() => {
    for (const row of document.querySelectorAll('.absent-list li, .fact')) {
      const text = (row as HTMLElement).innerText.replace(/\s+/g, ' ').trim()
      if (/Absent|not reported/.test(text)) claims.add(text)
    }
  }).observe(document.body, { childList: true, subtree: true, characterData: true })
}
