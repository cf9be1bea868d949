import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { needs } from '../debian.ts'
import { assertSound } from './axe.ts'
import { SCREENS, shareStage, takePicture, untilDrawn } from './browser.ts'
import { startTraffic } from './traffic.ts'

const PAGES: Readonly<Record<string, string>> = {
  node: '/',
  gpus: '/gpus',
  fabric: '/fabric',
  device: '/fabric/lo',
  host: '/host',
  metrics: '/explore',
  explorer: '/explore?sig=rate:netdev_rx_bytes_total&sig=last:host_memory_available_bytes',
  sources: '/sources',
  source: '/sources/netdev',
  'source-absent': '/sources/rdma',
  explain: '/explain',
  explained: '/explain?of=netdev',
  incidents: '/incidents',
  settings: '/settings',
}
/** At the right of the content, and where a page scrolls. Unit: CSS pixels. */
const SIDE_MAX_PX = 48

test(
  'every page is sound in light and dark, on small and large screens, and uses their width',
  needs('chromium-headless-shell'),
  async (t) => {
    const traffic = await startTraffic(t)
    traffic.bytesPerSecond = 500_000
    const stage = await shareStage(t)
    for (const [name, path] of Object.entries(PAGES)) {
      await stage.visit(path, async (page) => {
        for (const screen of ['desk', 'phone'] as const) {
          for (const colorScheme of ['light', 'dark'] as const) {
            await page.setViewportSize(SCREENS[screen])
            await page.emulateMedia({ colorScheme })
            const look = `${name}-${SCREENS[screen].width}-${colorScheme}`
            await t.test(look, (t) => inspect(t, page, look, colorScheme))
          }
        }
        await page.setViewportSize(SCREENS.wall)
        await page.emulateMedia({ colorScheme: 'light' })
        await t.test(`${name}-${SCREENS.wall.width}`, async (t) => {
          await inspect(t, page, `${name}-${SCREENS.wall.width}`, 'light')
          const widestPx = await page
            .locator('main > *, main .panel')
            .evaluateAll((parts) => Math.max(...parts.map((part) => part.getBoundingClientRect().right)))
          assert.ok(SCREENS.wall.width - widestPx <= SIDE_MAX_PX, `the page ends at ${widestPx} px`)
        })
      })
    }
  },
)

async function inspect(t: TestContext, page: Page, look: string, colours: string): Promise<void> {
  await untilDrawn(page)
  await page.locator('main').getByText('No such page').waitFor({ state: 'detached' })
  await takePicture(t, page, look)
  await assertSound(page, { contrastOnly: colours === 'dark' })
  assert.equal(await overflowOf(page), 0, 'the page scrolls sideways')
}

/** How much wider than the screen the page is. Unit: CSS pixels. */
function overflowOf(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
}

test(
  'a page whose code does not come says so, and comes when it is tried again',
  needs('chromium-headless-shell'),
  async (t) => {
    const stage = await shareStage(t)
    let isAway = true
    const look = async (page: Page): Promise<void> => {
      const words = page.getByText('The code of this page did not come.')
      await words.waitFor()
      assert.match(await page.title(), /^Not loaded/)
      await assertSound(page)
      // The page asks whether the server is there at all, and would load anew by itself where it is.
      const unanswered = page.waitForEvent('requestfailed', (request) => request.method() === 'HEAD')
      await page.getByRole('button', { name: 'Try again' }).click()
      await unanswered
      await words.waitFor()
      isAway = false
      await page.getByRole('button', { name: 'Try again' }).click()
      await page.locator('#source-table').waitFor()
    }
    const before = async (page: Page): Promise<void> => {
      await page.route('**/assets/sources-page-*.js', (route) => (isAway ? route.abort() : route.continue()))
      await page.route('**/sources', (route) =>
        isAway && route.request().method() === 'HEAD' ? route.abort() : route.continue(),
      )
    }
    await stage.visit('/sources', look, { before, expected: /ERR_FAILED/ })
  },
)

test('a page whose first files do not come is loaded again', needs('chromium-headless-shell'), async (t) => {
  const stage = await shareStage(t)
  for (const files of [/\/assets\/index-[^/]*\.js$/, /\/assets\/index-[^/]*\.css$/]) {
    let isFirst = true
    let loadedAgain: Promise<unknown> | undefined
    const before = async (page: Page): Promise<void> => {
      await page.route(files, (route) => {
        const isDropped = isFirst
        isFirst = false
        return isDropped ? route.abort() : route.continue()
      })
      loadedAgain = page.waitForEvent('requestfinished', (request) => files.test(request.url()))
    }
    const look = async (page: Page): Promise<void> => {
      // The first document may be drawn before it goes: only the second has these files.
      await loadedAgain
      await untilDrawn(page)
    }
    await stage.visit('/', look, { before, expected: /ERR_FAILED/ })
    assert.equal(isFirst, false)
  }
})

test(
  'a page whose first files never come says so, and comes when it is asked to',
  needs('chromium-headless-shell'),
  async (t) => {
    const stage = await shareStage(t)
    let isAway = true
    let asked = 0
    const look = async (page: Page): Promise<void> => {
      await page.getByRole('alert').getByText('The files of this page did not come.').waitFor()
      assert.equal(asked, 3, 'it is loaded again twice')
      isAway = false
      await page.getByRole('link', { name: 'Load again' }).click()
      await untilDrawn(page)
    }
    const before = (page: Page) =>
      page.route('**/assets/index-*.js', (route) => {
        asked++
        return isAway ? route.abort() : route.continue()
      })
    await stage.visit('/', look, { before, expected: /ERR_FAILED/ })
  },
)

test('going to another page is one frame once its code is there', needs('chromium-headless-shell'), async (t) => {
  const stage = await shareStage(t)
  await stage.visit('/', async (page) => {
    await untilDrawn(page)
    await page.waitForFunction(() =>
      performance.getEntriesByType('resource').some(({ name }) => /sources-page-.*\.js$/.test(name)),
    )
    const drawn = await page.evaluate(async () => {
      // What has arrived may not have run yet.
      const files = performance.getEntriesByType('resource').map(({ name }) => name)
      await import(files.find((name) => /sources-page-.*\.js$/.test(name)) ?? '')
      for (const link of document.querySelectorAll<HTMLElement>('nav a'))
        if (link.textContent === 'Sources') link.click()
      await new Promise(requestAnimationFrame)
      return document.querySelector('main h1')?.textContent
    })
    assert.equal(drawn, 'Sources')
  })
})
