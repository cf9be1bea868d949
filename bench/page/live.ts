import type { Browser, Page } from 'playwright-core'
import { tasksDuring } from './trace.ts'

const WATCHED_MS = 10_000
/** Time in which everything is compiled and the first answers arrive. Unit: milliseconds. */
const SETTLE_MS = 4_000

/** Opens a page in a fresh context, and closes it. */
export async function withFreshPage<T>(browser: Browser, look: (page: Page) => Promise<T>): Promise<T> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  try {
    return await look(await context.newPage())
  } finally {
    await context.close()
  }
}

/** Time of the main thread in a second of a page that has settled. Unit: milliseconds. */
export async function busyMsPerSecond(browser: Browser, page: Page): Promise<number> {
  await page.waitForTimeout(SETTLE_MS)
  const tasks = await tasksDuring(browser, page, () => page.waitForTimeout(WATCHED_MS))
  return (tasks.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / WATCHED_MS) * 1_000
}
