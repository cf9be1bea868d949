// Renews docs/pictures: the overview of this machine, with real traffic over pairs of interfaces that it makes, and
// that of a simulated node in trouble. Run as root on a quiet machine: node scripts/run.mjs
// test/browser/picture-main.ts

import { fileURLToPath } from 'node:url'
import { setUpWeb } from '../../scripts/setup.mjs'
import { ask } from '../ask.ts'
import { startSonde, temporaryDir } from '../sonde-process.ts'
import { SCREENS, startBrowser, untilDrawn } from './browser.ts'
import { startTraffic } from './traffic.ts'

const PICTURES = new URL('../../docs/pictures/', import.meta.url)
/** How long before the picture the trouble begins. */
const TROUBLE_MS = 100_000
/** The window of the page, filled. */
const WINDOW_MS = 300_000
const TURN_MS = 100

/** Bytes a second over each pair, `s` seconds after the start: an even beat, with bursts. */
const SHAPES: readonly ((s: number) => number)[] = [(s) => 3e6 + 1.4e6 * Math.sin(s / 18) + (s % 60 < 7 ? 2.5e6 : 0)]

const cleanups: (() => unknown)[] = []
const owner = {
  after: (cleanup?: unknown) => {
    if (typeof cleanup === 'function') cleanups.push(() => cleanup())
  },
}
try {
  if (!(await setUpWeb())) throw new Error('the page could not be built')
  const data = temporaryDir()
  cleanups.push(() => data.remove())
  const pairs = SHAPES.map((_, at) => ({ near: `eth${at * 2 + 1}`, far: `eth${at * 2 + 2}`, network: at + 1 }))
  const traffics = await Promise.all(pairs.map((pair) => startTraffic(owner, pair)))
  const startedMs = Date.now()
  const timer = setInterval(() => {
    traffics.forEach((traffic, at) => {
      traffic.bytesPerSecond = Math.max(0, SHAPES[at]?.((Date.now() - startedMs) / 1000) ?? 0)
    })
  }, TURN_MS)
  cleanups.push(() => clearInterval(timer))
  const start = async (name: string, args: readonly string[]) => {
    const sonde = await startSonde(['up', '--data-dir', `${data.path}/${name}`, ...args])
    cleanups.push(() => sonde.stop())
    return { name, sonde }
  }
  const nodes = [await start('node', []), await start('simulated', ['--only-simulated'])]
  await new Promise((resolve) => setTimeout(resolve, WINDOW_MS - TROUBLE_MS))
  await ask(nodes[1]!.sonde, '/api/v1/simulator/scenarios', { name: 'retransmission-storm' })
  await new Promise((resolve) => setTimeout(resolve, TROUBLE_MS + 5_000))
  const browser = await startBrowser()
  cleanups.push(() => browser.close())
  for (const { name, sonde } of nodes) {
    const page = await browser.newPage({ viewport: SCREENS.desk, colorScheme: 'light' })
    await page.goto(`${sonde.address}/?range=5m`)
    await untilDrawn(page)
    await page.getByText('Live', { exact: true }).waitFor()
    const path = fileURLToPath(new URL(`${name}.png`, PICTURES))
    await page.screenshot({ path, fullPage: true })
    console.log(path)
  }
} finally {
  for (const cleanup of cleanups.reverse()) await cleanup()
}
