import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Browser, type BrowserContext, chromium, type Page, type Request } from 'playwright-core'
import { root, setUpWeb } from '../../scripts/setup.mjs'
import { atEnd, mayShare } from '../../scripts/test-end.ts'
import { programPath } from '../debian.ts'
import { type SondeProcess, type StartOptions, startSonde, temporaryDir } from '../sonde-process.ts'
import { closeTab, type Emulation, leaveTab, NETWORK_CHANGED, takeTab } from './tabs.ts'

/** Where pictures of the page are written; git ignores it. */
const PICTURES_DIR = join(root, '.cache/pictures')

/** Screens that the page is made for. Unit: CSS pixels. */
export const SCREENS = {
  desk: { width: 1440, height: 900 },
  phone: { width: 390, height: 844 },
  wall: { width: 2560, height: 1440 },
} as const

/** How long a test waits for the page to show something. Unit: milliseconds. */
export const SHOW_LIMIT_MS = 60_000

/** How often a page is opened whose files were dropped. */
const OPEN_TRIES = 10

/** How a page is visited. */
export interface VisitOptions extends Partial<Emulation> {
  /** Problems that the test causes on purpose: what the console says of them is no failure. */
  readonly expected?: RegExp
  /** Called before the address is opened, to stand between the page and its server. */
  readonly before?: (page: Page) => Promise<unknown>
}

/** A test, or the process where tests share something. */
export interface Ending {
  after(end: () => unknown): void
}

/** A running `sonde up` and a browser that looks at it. `sonde up` ends with the test. */
export interface Stage {
  /** Where the page is. */
  readonly address: string
  readonly dataDir: string
  readonly sonde: SondeProcess
  /** Starts `sonde up` again on the same address and data, after it was stopped. */
  restart(): Promise<void>
  /**
   * Opens a path in a tab that holds nothing of the visits before, does something with the page, and leaves it.
   *
   * Fails when anything went wrong in the page: an error of the console or of a script, or a request that left the
   * origin.
   */
  visit(path: string, look: (page: Page) => Promise<void>, options?: VisitOptions): Promise<void>
}

/** Options of {@link startStage}. */
interface StageOptions extends StartOptions {
  /** Fills the data directory before `sonde up` starts. */
  readonly prepare?: (dataDir: string) => Promise<void>
}

/** Builds the page where its files changed, then starts `sonde up` with a data directory of its own, and Chromium. */
export async function startStage(
  test: Ending,
  args: readonly string[] = [],
  { prepare, ...options }: StageOptions = {},
): Promise<Stage> {
  assert.ok(await setUpWeb(), 'the page could not be built')
  const data = temporaryDir()
  test.after(() => data.remove())
  await prepare?.(data.path)
  const start = (listen: string): Promise<SondeProcess> =>
    startSonde(['up', '--log-level', 'warn', '--data-dir', data.path, '--listen', listen, ...args], options)
  let sonde = await start('127.0.0.1:0')
  const { address } = sonde
  test.after(() => sonde.stop())
  const browser = await browserFor(test)
  return {
    address,
    dataDir: data.path,
    get sonde() {
      return sonde
    },
    async restart() {
      sonde = await start(new URL(address).host)
    },
    visit: (path, look, visit = {}) => visitPage(browser, address + path, look, visit),
  }
}

const sharedStages = new Map<string, Promise<Stage>>()
let sharedBrowser: Promise<Browser> | undefined

/** A stage that no test may stop. */
export type SharedStage = Pick<Stage, 'address' | 'visit'>

/**
 * A stage for tests that only look at it: tests of this process that ask for the same arguments share it. It ends with
 * the process.
 */
export function shareStage(test: TestContext, args: readonly string[] = []): Promise<SharedStage> {
  if (!mayShare) return startStage(test, args)
  const key = args.join(' ')
  const stage = sharedStages.get(key) ?? startStage({ after: atEnd }, args)
  sharedStages.set(key, stage)
  return stage
}

/** A browser for all stages of this process, because its start takes as long as some tests. */
async function browserFor(test: Ending): Promise<Browser> {
  if (mayShare && sharedBrowser !== undefined) return sharedBrowser
  sharedBrowser = startBrowser()
  const browser = await sharedBrowser
  if (mayShare) atEnd(() => browser.close())
  else test.after(() => browser.close())
  return browser
}

/** Starts Chromium. The caller closes it. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: programPath('chromium-headless-shell') ?? 'chromium-headless-shell',
    // Chromium has no sandbox for root, which is who runs tests in containers.
    args: ['--disable-gpu', '--disable-dev-shm-usage', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
  })
}

/** Waits until the page shows data rather than that it waits for them. */
export async function untilDrawn(page: Page): Promise<void> {
  await page.locator('main h1').first().waitFor({ state: 'attached' })
  await page.locator('main [aria-busy="true"]').first().waitFor({ state: 'detached' })
  await page.evaluate(() => document.fonts.ready)
}

/** Writes a picture of the page and says where, if `SONDE_PICTURES` is set: pictures take as long as what is tested. */
export async function takePicture(test: TestContext, page: Page, name: string): Promise<void> {
  if (!process.env.SONDE_PICTURES) return
  mkdirSync(PICTURES_DIR, { recursive: true })
  const path = join(PICTURES_DIR, `${name}.png`)
  await page.screenshot({ path, fullPage: true })
  test.diagnostic(`picture ${path}`)
}

async function visitPage(
  browser: Browser,
  address: string,
  look: (page: Page) => Promise<void>,
  { expected, before, viewport = SCREENS.desk, ...emulation }: VisitOptions,
): Promise<void> {
  const tab = await takeTab(browser, new URL(address).origin, { viewport, ...emulation })
  tab.context.setDefaultTimeout(SHOW_LIMIT_MS)
  const unexpected = (problems: string[]): string[] => problems.filter((problem) => expected?.test(problem) !== true)
  try {
    await before?.(tab.page)
    await open(tab.page, address)
    await look(tab.page)
  } catch (error) {
    const picture = await pictureOfFailure(tab.context)
    await closeTab(tab)
    throw new Error([`${(error as Error).message}`, `picture ${picture}`, ...unexpected(tab.problems)].join('\n'), {
      cause: error,
    })
  }
  assert.deepEqual(unexpected(await leaveTab(browser, tab)), [], 'something went wrong in the page')
}

/**
 * Opens an address, again where another test made or removed an interface meanwhile: Chromium drops what is under way
 * then. A page without its first files loads itself again, but a moment later, while the test looks at it already.
 */
async function open(page: Page, address: string): Promise<void> {
  for (let tries = 1; tries <= OPEN_TRIES; tries++) {
    let isDropped = false
    const see = (request: Request): void => {
      isDropped ||= request.failure()?.errorText === NETWORK_CHANGED && request.resourceType() !== 'fetch'
    }
    page.on('requestfailed', see)
    await page.goto(address).catch((error: Error) => {
      if (!error.message.includes(NETWORK_CHANGED)) throw error
    })
    page.off('requestfailed', see)
    if (!isDropped) return
  }
}

/** A picture of what the page showed when it failed a test. */
async function pictureOfFailure(context: BrowserContext): Promise<string> {
  mkdirSync(PICTURES_DIR, { recursive: true })
  const path = join(PICTURES_DIR, `failed-${Date.now()}.png`)
  for (const page of context.pages()) await page.screenshot({ path })
  return path
}
