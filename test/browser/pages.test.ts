import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import axe, { type AxeResults, type RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'
import { needs } from '../debian.ts'
import { SCREENS, type Stage, startStage, takePicture, untilDrawn } from './browser.ts'
import { startTraffic } from './traffic.ts'

const PAGES: Readonly<Record<string, string>> = {
  node: '/',
  fabric: '/fabric',
  device: '/fabric/lo',
  explorer: '/explore',
  sources: '/sources',
}

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

test('every page is sound in light and dark, wide and narrow', needs('chromium'), async (t) => {
  const traffic = await startTraffic(t)
  traffic.bytesPerSecond = 500_000
  const stage = await startStage(t)
  for (const name of Object.keys(PAGES)) {
    for (const screen of ['desk', 'phone'] as const) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await t.test(`${name}, ${SCREENS[screen].width} px, ${colorScheme}`, (t) =>
          inspect(t, stage, name, { screen, colorScheme }),
        )
      }
    }
  }
})

interface Look {
  readonly screen: keyof typeof SCREENS
  readonly colorScheme: 'light' | 'dark'
}

async function inspect(t: TestContext, stage: Stage, name: string, { screen, colorScheme }: Look): Promise<void> {
  const look = async (page: Page): Promise<void> => {
    await untilDrawn(page)
    await page.locator('main').getByText('No such page').waitFor({ state: 'detached' })
    await takePicture(t, page, `${name}-${SCREENS[screen].width}-${colorScheme}`)
    assert.equal((await violationsOf(page)).join('\n'), '')
    assert.equal(await overflowOf(page), 0, 'the page scrolls sideways')
  }
  await stage.visit(PAGES[name] ?? '/', look, { viewport: SCREENS[screen], colorScheme })
}

/** What axe finds wrong, one line a node. */
async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate(
    (options): Promise<AxeResults> => (window as unknown as { axe: typeof axe }).axe.run(document, options),
    { runOnly: { type: 'tag', values: RULES } } satisfies RunOptions,
  )
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, any, all, none }) => {
      const reasons = [...any, ...all, ...none].map(({ message }) => message)
      return `${id}: ${html.slice(0, 160)}: ${reasons.join('; ')}`
    }),
  )
}

/** How much wider than the screen the page is. Unit: CSS pixels. */
function overflowOf(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
}
