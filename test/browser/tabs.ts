// Tabs that visits take turns in. For a tab of its own each visit would start a process and compile the page anew,
// which takes longer than most looks at it.

import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'

/** What Chromium says of a request that it dropped because the interfaces of the machine changed. */
export const NETWORK_CHANGED = 'net::ERR_NETWORK_CHANGED'

/** How a page is looked at. Default: light, with motion, in the time zone of the machine. */
export type Emulation = Pick<BrowserContextOptions, 'colorScheme' | 'reducedMotion' | 'timezoneId'> & {
  /** Unit: CSS pixels. */
  readonly viewport: { readonly width: number; readonly height: number }
}

/** A tab, and what went wrong in it and in the tabs that it opened. */
export interface Tab {
  readonly context: BrowserContext
  readonly page: Page
  readonly timezoneId: string | undefined
  /** The only origin that its page may ask. */
  origin: string
  problems: string[]
}

const unused = new WeakMap<Browser, Set<Tab>>()

function unusedOf(browser: Browser): Set<Tab> {
  const tabs = unused.get(browser) ?? new Set()
  unused.set(browser, tabs)
  return tabs
}

/** A tab in which nothing is left of the visits before. */
export async function takeTab(browser: Browser, origin: string, emulation: Emulation): Promise<Tab> {
  const { viewport, colorScheme = 'light', reducedMotion = 'no-preference', timezoneId } = emulation
  const tabs = unusedOf(browser)
  const tab = [...tabs].find((tab) => tab.timezoneId === timezoneId) ?? (await openTab(browser, timezoneId))
  tabs.delete(tab)
  tab.origin = origin
  await tab.page.setViewportSize(viewport)
  await tab.page.emulateMedia({ colorScheme, reducedMotion, forcedColors: 'none', media: 'screen' })
  return tab
}

/**
 * Leaves the page, forgets what it kept in the browser, and keeps the tab for the next visit. Answers the problems of
 * the visit.
 */
export async function leaveTab(browser: Browser, tab: Tab): Promise<string[]> {
  const { context, page, problems } = tab
  for (const other of context.pages()) if (other !== page) await other.close()
  await page.evaluate(() => {
    localStorage.clear()
    sessionStorage.clear()
  })
  await page.mouse.move(0, 0)
  // Leave the page before its routes end, so that the page sends no request to the server.
  await page.goto('about:blank')
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  tab.problems = []
  unusedOf(browser).add(tab)
  return problems
}

/** Closes a tab that a visit left in the middle of something. */
export async function closeTab({ context }: Tab): Promise<void> {
  for (const page of context.pages()) await page.unrouteAll({ behavior: 'ignoreErrors' })
  await context.close()
}

async function openTab(browser: Browser, timezoneId: string | undefined): Promise<Tab> {
  // Without them a test cannot read what a page has copied.
  const permissions = ['clipboard-read', 'clipboard-write']
  const context = await browser.newContext({ permissions, ...(timezoneId === undefined ? {} : { timezoneId }) })
  const page = await context.newPage()
  const tab: Tab = { context, page, timezoneId, origin: '', problems: [] }
  watch(page, tab)
  context.on('page', (opened) => watch(opened, tab))
  return tab
}

function watch(page: Page, tab: Tab): void {
  page.on('pageerror', (error) => tab.problems.push(`error: ${error.stack ?? error.message}`))
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return
    // Another test made or removed an interface: Chromium drops what is under way, and the page asks again.
    if (message.text() === `Failed to load resource: ${NETWORK_CHANGED}`) return
    const place = decodeURIComponent(message.location().url).slice(0, 200)
    tab.problems.push(`console: ${message.text()} (${place})`)
  })
  page.on('request', (request) => {
    const asked = new URL(request.url())
    if (asked.origin !== tab.origin && !['data:', 'blob:', 'about:'].includes(asked.protocol)) {
      tab.problems.push(`left the origin: ${request.url()}`)
    }
  })
}
