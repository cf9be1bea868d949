import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { ask } from '../ask.ts'
import { needs } from '../debian.ts'
import { until } from '../sonde-process.ts'
import { assertSound } from './axe.ts'
import { SCREENS, SHOW_LIMIT_MS, type SharedStage, takePicture, untilDrawn } from './browser.ts'
import { chartNamed } from './chart.ts'
import { cutWords } from './cut.ts'
import { shareSimulatedStage } from './simulated.ts'

const QUERIES = [
  { metric: 'rdma_port_xmit_data_bytes_total', function: 'rate' },
  { metric: 'ethtool_port_outbound_pci_stalled_wr_ratio', function: 'last' },
]
const ADDRESS = '/explore?sig=rate:rdma_port_xmit_data_bytes_total&sig=last:ethtool_port_outbound_pci_stalled_wr_ratio'

/** The answer of the query route. */
interface Answer {
  readonly times: readonly number[]
  readonly results: readonly {
    readonly metric: string
    readonly series: readonly { readonly labels: Record<string, string>; readonly values: readonly (number | null)[] }[]
  }[]
}

/** A window of ten seconds that has passed, so that page and API speak of the same samples. */
async function pastWindow(stage: SharedStage): Promise<{ fromMs: number; toMs: number; words: string }> {
  const { startedMs } = await ask<{ startedMs: number }>(stage, '/api/v1/node')
  const fromMs = Math.ceil(startedMs / 1_000) * 1_000 + 3_000
  const toMs = fromMs + 10_000
  await until('ten seconds', 60_000, () => Date.now() > toMs + 2_000)
  return { fromMs, toMs, words: `from=${new Date(fromMs).toISOString()}&to=${new Date(toMs).toISOString()}` }
}

test(
  'what leaves the explorer is what the API says, in full precision',
  needs('chromium-headless-shell'),
  async (t) => {
    const stage = await shareSimulatedStage(t)
    const window = await pastWindow(stage)
    const { fromMs, toMs } = window
    const answer = await ask<Answer>(stage, '/api/v1/query', { fromMs, toMs, stepMs: 1_000, queries: QUERIES })
    const address = `${ADDRESS}&${window.words}&step=1s`

    await t.test('the catalogue is a list of types, which open', async (t) => {
      await stage.visit('/explore', async (page) => {
        const table = page.getByRole('region', { name: 'Table of metrics' })
        const group = table.getByRole('button', { name: /rdma_port · \d+.metrics/ })
        await group.waitFor()
        assert.equal(await table.getByRole('link').count(), 0)
        const height = await page.evaluate(() => document.documentElement.scrollHeight)
        assert.ok(height < 4_400, `${height} px high`)
        await takePicture(t, page, 'explorer-catalogue')
        await assertSound(page)
        const records = page.getByRole('region', { name: 'Table of records' })
        const row = records.getByRole('row', { name: /nvml_gpu_info/ })
        assert.match(await row.innerText(), /serial.*npx sonde read --store \S+ --type nvml_gpu_info/s)
        await group.click()
        await page.getByRole('searchbox', { name: 'Filter metrics' }).fill('xmit_wait')
        await table.getByRole('link', { name: 'rdma_port_xmit_wait_ticks_total' }).click()
        await page.waitForURL(/sig=rate/)
      })
    })

    await t.test('copied as CSV', async () => {
      await stage.visit(address, async (page) => {
        const { heads, rows } = readCsv(await copied(page, 'Copy as CSV'))
        assert.deepEqual(
          rows.map(([time]) => Date.parse(time ?? '')),
          answer.times,
        )
        for (const { metric, series } of answer.results) {
          for (const { labels, values } of series) {
            const column = heads.findIndex(
              (head) => head.includes(metric) && Object.values(labels).every((value) => head.includes(`"${value}"`)),
            )
            assert.ok(column > 0, `no column of ${metric} ${JSON.stringify(labels)}`)
            assert.match(heads[column]!, /simulated="true"} \[(bytes\/s|ratio)\] \(simulated\)$/)
            assert.deepEqual(
              rows.map((cells) => (cells[column] === '' ? null : Number(cells[column]))),
              values,
            )
          }
        }
        assert.equal(heads.length - 1, answer.results.flatMap(({ series }) => series).length)
      })
    })

    await t.test('copied as JSON', async () => {
      await stage.visit(address, async (page) => {
        const sheet = JSON.parse(await copied(page, 'Copy as JSON')) as {
          times: number[]
          series: { metric: string; labels: Record<string, string>; simulated: boolean; values: (number | null)[] }[]
        }
        assert.deepEqual(sheet.times, answer.times)
        const expected = answer.results.flatMap(({ metric, series }) => series.map((one) => ({ metric, ...one })))
        assert.equal(sheet.series.length, expected.length)
        for (const { metric, labels, values } of expected) {
          const found = sheet.series.find(
            (one) => one.metric === metric && JSON.stringify(sorted(one.labels)) === JSON.stringify(sorted(labels)),
          )
          assert.deepEqual(found?.values, values)
          assert.equal(found?.simulated, true)
        }
      })
    })

    await t.test('saved as a file, and a lane as a picture, both named as simulated', async () => {
      await stage.visit(address, async (page) => {
        await untilDrawn(page)
        const csv = await saved(page, () => page.getByRole('button', { name: 'CSV', exact: true }).click())
        assert.equal(csv.name, 'sonde-simulated.csv')
        assert.equal(csv.content.toString().split('\r\n').length, answer.times.length + 2)
        const name = 'Save rdma_port_xmit_data_bytes_total as PNG'
        const picture = await saved(page, () => page.getByRole('button', { name }).click())
        assert.equal(picture.name, 'sonde-rdma_port_xmit_data_bytes_total-simulated.png')
        assert.equal(picture.content.subarray(1, 4).toString(), 'PNG')
        const [width, height] = [picture.content.readUInt32BE(16), picture.content.readUInt32BE(20)]
        assert.ok(width > 800 && height > 300, `${width} × ${height}`)
      })
    })

    await t.test('the table says the same statistics, the source and where to ask why', async () => {
      await stage.visit(address, async (page) => {
        await untilDrawn(page)
        const table = page.getByRole('region', { name: 'Table of rdma_port_xmit_data_bytes_total' })
        const row = table.getByRole('row').filter({ hasText: 'mlx5_3' })
        const cells = await row.getByRole('cell').allInnerTexts()
        const { values } = answer.results[0]!.series.find(({ labels }) => labels.rdma_device === 'mlx5_3')!
        const known = values.filter((value) => value !== null)
        const unit = (await table.getByRole('columnheader', { name: /^Max/ }).innerText()).split(/\s/).at(-1)
        assert.equal(unit, 'Gb/s')
        const shown = (value: number): number => Number(((value * 8) / 1e9).toPrecision(3))
        assert.equal(Number(cells[4]), shown(Math.max(...known)))
        assert.equal(Number(cells[2]), shown(known.reduce((sum, value) => sum + value, 0) / known.length))
        assert.equal(Number(cells[5]), known.length)
        await row.getByRole('link', { name: 'Explain rdma_port_xmit_data_bytes_total' }).click()
        await page.waitForURL(/\/explain\?.*of=rdma_port_xmit_data_bytes_total/)
      })
    })

    await t.test(
      'a signal of a PCI address comes from its page, stands readable in the address, and stays',
      async () => {
        await stage.visit('/pci/sim-pci-0000:ca:00.0', async (page) => {
          await page.getByRole('link', { name: 'current_link_bandwidth_bytes_per_second' }).click()
          await page.waitForURL(
            /sig=last:pci_device_current_link_bandwidth_bytes_per_second:pci_address=0000:ca:00\.0;simulated=true/,
          )
          const chart = chartNamed(page, 'pci_device_current_link_bandwidth_bytes_per_second')
          const hasSamples = async (): Promise<boolean> => /\d\sGB\/s/.test(await chart.sentence())
          await until('samples', SHOW_LIMIT_MS, hasSamples)
          await page.reload()
          await until('samples again', SHOW_LIMIT_MS, hasSamples)
          await page.goto(page.url().replace('0000:ca:00.0', '0000%253Aca%3A00.0'))
          await until('samples of an address that was escaped on its way', SHOW_LIMIT_MS, hasSamples)
          assert.equal(await page.getByText('Ignored in the address').count(), 0)
        })
      },
    )

    await t.test('series are named by what tells them apart, whole on every screen', async (t) => {
      for (const viewport of [SCREENS.desk, SCREENS.phone]) {
        const look = async (page: Page): Promise<void> => {
          await untilDrawn(page)
          const title = 'DCGM_FI_DEV_POWER_USAGE'
          await until('samples', SHOW_LIMIT_MS, async () => /gpu 7 \d/.test(await chartNamed(page, title).sentence()))
          const names = page.getByRole('region', { name: title, exact: true }).locator('.readout-name')
          assert.deepEqual((await names.allInnerTexts()).slice(0, 2), ['gpu 0', 'gpu 1'])
          assert.deepEqual(await cutWords(page), [])
          await takePicture(t, page, `explorer-power-${viewport.width}`)
        }
        await stage.visit('/explore?sig=last:DCGM_FI_DEV_POWER_USAGE', look, { viewport })
      }
    })

    await t.test('a signal that cannot be read is named like anything else that is ignored, and why', async () => {
      // Its name leads to it, whatever is asked for.
      await stage.visit('/explorer?sig=last:host_memory_available_bytes&sig=median:a&zzz=1', async (page) => {
        const banner = page.locator('.banner.is-info')
        await banner.getByText('Ignored in the address: zzz, sig=median:a.').waitFor()
        await banner.getByText('The function of a signal is one of rate, increase, last').waitFor()
        await page.getByRole('region', { name: 'host_memory_available_bytes', exact: true }).waitFor()
        assert.equal(await page.getByText('Ignored in the address').count(), 1)
        await assertSound(page)
      })
    })
  },
)

test(
  'a window of 30 s moves ten times a second where the source is that fast, and says its step',
  needs('chromium-headless-shell'),
  async (t) => {
    const stage = await shareSimulatedStage(t, 100)

    await t.test('samples are a tenth of a second apart, and new ones come in between two seconds', async () => {
      await stage.visit(
        '/explore?range=30s&sig=rate:rdma_port_xmit_data_bytes_total:rdma_device=mlx5_0',
        async (page) => {
          await untilDrawn(page)
          const title = 'rdma_port_xmit_data_bytes_total'
          const chart = chartNamed(page, title)
          const region = page.getByRole('region', { name: title, exact: true })
          await region.getByText('100 ms step').waitFor()
          await until('samples', SHOW_LIMIT_MS, async () => /mlx5_0.* \d/.test(await chart.sentence()))
          await chart.group.press('t')
          const times = await until('rows', SHOW_LIMIT_MS, async () => {
            const seen = await region.locator('tbody th').allInnerTexts()
            return seen.length > 3 ? seen.map((text) => Date.parse(`${text.replace(' ', 'T')}Z`)) : undefined
          })
          assert.deepEqual([times[0]! - times[1]!, times[1]! - times[2]!], [100, 100])
          const tenths = new Set<number>()
          await until('rows between two seconds', SHOW_LIMIT_MS, async () => {
            const newest = await region.locator('tbody th').first().innerText()
            tenths.add(Date.parse(`${newest.replace(' ', 'T')}Z`) % 1_000)
            return tenths.size >= 4
          })
        },
      )
    })

    await t.test('a source of one second is shown each second, whatever the window', async () => {
      await stage.visit('/explore?range=30s&sig=rate:host_cpu_seconds_total:cpu=0;mode=idle', async (page) => {
        await untilDrawn(page)
        const region = page.getByRole('region', { name: 'host_cpu_seconds_total', exact: true })
        const chart = chartNamed(page, 'host_cpu_seconds_total')
        await until('samples', SHOW_LIMIT_MS, async () => /cpu 0( idle)? \d/.test(await chart.sentence()))
        assert.equal(await region.getByText('100 ms step').count(), 0)
        await page.getByText('Of the values shown, one every 1 s').waitFor()
      })
    })
  },
)

async function copied(page: Page, button: string): Promise<string> {
  await untilDrawn(page)
  await page.getByRole('region', { name: /^Table of rdma/ }).waitFor()
  await page.getByRole('button', { name: button }).click()
  await page.getByText('Copied').waitFor()
  return page.evaluate(() => navigator.clipboard.readText())
}

async function saved(page: Page, press: () => Promise<void>): Promise<{ name: string; content: Buffer }> {
  const [download] = await Promise.all([page.waitForEvent('download'), press()])
  return { name: download.suggestedFilename(), content: readFileSync(await download.path()) }
}

/** Reads CSV with quoted fields. */
function readCsv(text: string): { heads: string[]; rows: string[][] } {
  const [heads = [], ...rows] = text
    .trimEnd()
    .split('\r\n')
    .map((line) => [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(cellOf))
  return { heads, rows }
}

function cellOf(match: RegExpMatchArray): string {
  return match[1] === undefined ? (match[2] ?? '') : match[1].replaceAll('""', '"')
}

function sorted(labels: Record<string, string>): [string, string][] {
  return Object.entries(labels).sort(([a], [b]) => a.localeCompare(b))
}
