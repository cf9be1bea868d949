// Renews the pictures of the page of a NIC in docs/pictures: a healthy simulated DPU, and the section that shows each
// fault of a simulated node. Needs Chromium, and pngquant for small files:
// node scripts/run.mjs test/browser/nic-picture-main.ts

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { setUpWeb } from '../../scripts/setup.mjs'
import { startSonde, temporaryDir } from '../sonde-process.ts'
import { startBrowser, untilDrawn } from './browser.ts'

const PICTURES = new URL('../../docs/pictures/', import.meta.url)
/** The NIC that has each fault, and the section that shows it. */
const FAULTS = [
  { name: 'link-flap', nic: 'mlx5_1', section: 'link' },
  { name: 'link-ber', nic: 'mlx5_2', section: 'link' },
  { name: 'pcie-downtrain', nic: 'mlx5_3', section: 'pcie' },
  { name: 'pfc-storm', nic: 'mlx5_4', section: 'congestion' },
  { name: 'incast', nic: 'mlx5_5', section: 'congestion' },
  { name: 'pcie-stall', nic: 'mlx5_6', section: 'pcie' },
] as const
/** Begin of the faults after the start. Unit: seconds. */
const DELAY_S = 60
/** The window of the pictures, from the begin of the faults. It is past when pictures are taken. Unit: seconds. */
const WINDOW_S = { from: -30, to: 90 }
/** Longest time from the end of the window until it is stored. Unit: seconds. */
const STORED_S = 15
const VIEWPORT = { width: 1440, height: 900 }
/** Left edge of the charts, beside the navigation. Unit: CSS pixels. */
const CONTENT_LEFT = 172
/** Background around a section. Unit: CSS pixels. */
const MARGIN = 20

const cleanups: (() => unknown)[] = []
try {
  if (!(await setUpWeb())) throw new Error('the page could not be built')
  const data = temporaryDir()
  cleanups.push(() => data.remove())
  const start = async (name: string, args: readonly string[]) => {
    const sonde = await startSonde(['up', '--data-dir', `${data.path}/${name}`, '--only-simulated', ...args])
    cleanups.push(() => sonde.stop())
    return sonde
  }
  const dpu = await start('dpu', ['--simulate-class', 'dpu-host'])
  const faults = FAULTS.map(({ name, nic }) => `${name}@${nic}::${DELAY_S}`).join(',')
  const node = await start('node', [`--simulate=${faults}`])
  const onsetMs = Date.now() + DELAY_S * 1000
  const [fromMs, toMs] = [onsetMs + WINDOW_S.from * 1000, onsetMs + WINDOW_S.to * 1000]
  await new Promise((resolve) => setTimeout(resolve, toMs + STORED_S * 1000 - Date.now()))
  const browser = await startBrowser()
  cleanups.push(() => browser.close())
  const shots = [
    { file: 'nic', address: `${dpu.address}/fabric/mlx5_0`, section: '' },
    ...FAULTS.map(({ name, nic, section }) => ({
      file: `nic-${name}`,
      address: `${node.address}/fabric/${nic}`,
      section,
    })),
  ]
  const range = `from=${new Date(fromMs).toISOString()}&to=${new Date(toMs).toISOString()}`
  for (const { file, address, section } of shots) {
    const page = await browser.newPage({ viewport: VIEWPORT, colorScheme: 'light' })
    await page.goto(`${address}?${range}`)
    await untilDrawn(page)
    await page.locator('#dpa').waitFor()
    await drawAll(page)
    const path = fileURLToPath(new URL(`${file}.png`, PICTURES))
    await page.screenshot({ timeout: 120_000, path, fullPage: true, clip: await clipOf(page, section) })
    spawnSync('pngquant', ['--force', '--ext', '.png', '--skip-if-larger', '64', path])
    console.log(path)
    await page.close()
  }
} finally {
  for (const cleanup of cleanups.reverse()) await cleanup()
}

/** Scrolls through the page, because charts are drawn when they are seen. */
async function drawAll(page: Page): Promise<void> {
  const height = await page.evaluate(() => document.documentElement.scrollHeight)
  for (let top = 0; top < height; top += VIEWPORT.height / 2) {
    await page.evaluate((y) => scrollTo(0, y), top)
    await page.waitForTimeout(500)
  }
  await page.evaluate(() => scrollTo(0, 0))
  await page.waitForTimeout(3_000)
}

/** The part of the page that holds a section, or everything above the table of counters. */
async function clipOf(page: Page, section: string) {
  const [top, bottom] = await page.evaluate((id) => {
    const heads = [...document.querySelectorAll('.section-title')]
    const topOf = (element: Element | null | undefined): number => (element?.getBoundingClientRect().top ?? 0) + scrollY
    const first = heads.findIndex((head) => head.id === id)
    const counters = document.querySelector('#counter-table')?.closest('section')
    return id === '' ? ([0, topOf(counters)] as const) : ([topOf(heads[first]), topOf(heads[first + 1])] as const)
  }, section)
  if (section === '') return { x: 0, y: 0, width: VIEWPORT.width, height: bottom }
  return { x: CONTENT_LEFT, y: top - MARGIN, width: VIEWPORT.width - CONTENT_LEFT, height: bottom - top + MARGIN - 8 }
}
