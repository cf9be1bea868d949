// Renews the pictures of the page of a NIC in docs/pictures: a healthy simulated DPU, and the section that shows each
// fault of a simulated node. Run with Chromium: node scripts/run.mjs test/browser/nic-picture-main.ts

import { fileURLToPath } from 'node:url'
import { setUpWeb } from '../../scripts/setup.mjs'
import { startSonde, temporaryDir } from '../sonde-process.ts'
import { startBrowser, untilDrawn } from './browser.ts'

const PICTURES = new URL('../../docs/pictures/', import.meta.url)
/** The NIC that has each fault, and the section that shows it. */
const FAULTS = [
  { name: 'link-flap', nic: 'mlx5_1', section: 'link' },
  { name: 'link-ber', nic: 'mlx5_2', section: 'link' },
  { name: 'pcie-downtrain', nic: 'mlx5_3', section: 'pcie' },
  { name: 'pfc-storm', nic: 'mlx5_4', section: 'pcie' },
  { name: 'incast', nic: 'mlx5_5', section: 'congestion' },
] as const
/** Begin of the faults after the start, and time of the pictures. Unit: seconds. */
const DELAY_S = 40
const PICTURE_S = 130
const VIEWPORT = { width: 1440, height: 900 }

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
  await new Promise((resolve) => setTimeout(resolve, PICTURE_S * 1000))
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
  for (const { file, address, section } of shots) {
    const page = await browser.newPage({ viewport: VIEWPORT, colorScheme: 'light' })
    await page.goto(`${address}?range=2m`)
    await untilDrawn(page)
    await page.locator('#dpa').waitFor()
    // Charts that are scrolled out are drawn once a second at most.
    await page.waitForTimeout(3_000)
    const [top, bottom] = await page.evaluate((id) => {
      const heads = [...document.querySelectorAll('.section-title')]
      const topOf = (element: Element | null | undefined): number | undefined =>
        element ? element.getBoundingClientRect().top + scrollY : undefined
      const first = heads.findIndex((head) => head.id === id)
      const counters = document.querySelector('#counter-table')?.closest('section')
      return id === '' ? [0, topOf(counters)] : [topOf(heads[first]), topOf(heads[first + 1])]
    }, section)
    const path = fileURLToPath(new URL(`${file}.png`, PICTURES))
    const edge = section === '' ? 0 : 8
    const clip = { x: section === '' ? 0 : 172, y: (top ?? 0) - edge, height: (bottom ?? 0) - (top ?? 0) }
    await page.screenshot({ timeout: 120_000, path, fullPage: true, clip: { ...clip, width: VIEWPORT.width - clip.x } })
    console.log(path)
    await page.close()
  }
} finally {
  for (const cleanup of cleanups.reverse()) await cleanup()
}
