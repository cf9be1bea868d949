import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { ask } from '../ask.ts'
import { needs } from '../debian.ts'
import { until } from '../sonde-process.ts'
import { assertSound } from './axe.ts'
import { SCREENS, type Stage, startStage, takePicture, untilDrawn } from './browser.ts'
import { doubledNic, FULL_NIC, NIC_PATH } from './doubled-nic.ts'

const LIMIT_MS = 60_000
const STEP_MS = 1_000
const WINDOW_MS = 4_000

/** A column of the table of a chart, and the query with the same answer. */
interface Shown {
  readonly chart: string
  readonly column: string
  readonly metric: string
  readonly function: 'last' | 'rate'
  readonly labels?: Readonly<Record<string, string>>
}

const row = (
  chart: string,
  column: string,
  fn: Shown['function'],
  metric: string,
  labels?: Shown['labels'],
): Shown => ({ chart, column, metric, function: fn, ...(labels ? { labels } : {}) })

const SHOWN: readonly Shown[] = [
  row('RDMA retransmission rate', 'adaptive', 'rate', 'rdma_hw_roce_adp_retrans_total'),
  row('Timeouts of adaptive retransmission', 'up to 100 µs', 'rate', 'doca_adp_retx_timeout_seconds'),
  row('Link round trip', 'there and back', 'last', 'doca_phy_round_trip_seconds'),
  row('Congestion', 'rate limited', 'rate', 'doca_diag_congestion_deschedules_total'),
  row('Programmable congestion control', 'slot 0 cnp_events', 'rate', 'doca_pcc_events_total', {
    counter: 'cnp_events',
  }),
  row('PCC slot 0 rtt_ns', 'slot 0 rtt_ns', 'last', 'doca_pcc_value', { counter: 'rtt_ns' }),
  row('Bit error ratio', 'before correction', 'last', 'doca_phy_raw_bit_error_ratio'),
  row('Diagnostic link errors', 'link down', 'rate', 'doca_diag_link_errors', { type: 'link_downed' }),
  row('Received light', 'lane 2', 'last', 'doca_phy_lane_rx_power_dbm', { lane: '2' }),
  row('Module', 'temperature', 'last', 'doca_phy_temperature_celsius'),
  row('PCIe stalled', 'writes', 'last', 'doca_pci_outbound_stalled_writes_ratio'),
  row('PCIe back pressure', 'writes stalled', 'rate', 'doca_pci_outbound_stalled_writes_events_total'),
  row('PCIe read latency', 'up to 250 ns', 'rate', 'doca_pci_read_latency_seconds'),
  row('PCIe reads', 'longest', 'last', 'doca_diag_pci_read_latency_max_seconds'),
  row('PCI bandwidth utilisation', 'outbound', 'last', 'doca_pci_tx_utilisation_ratio'),
  row('PCI TLP errors', 'CRC, adapter', 'rate', 'doca_pci_crc_tlp_errors_total'),
  row('DPA utilisation', 'thread 2', 'rate', 'doca_dpa_thread_active_seconds_total', { thread: '2' }),
  row('DPA threads', 'process 7', 'last', 'doca_dpa_process_threads'),
]

interface Answer {
  readonly results: readonly {
    readonly series: readonly {
      readonly labels: Readonly<Record<string, string>>
      readonly values: readonly (number | null)[]
    }[]
  }[]
}

/** Answers of the API to {@link SHOWN}, of the same window as the page. */
async function told(
  stage: Pick<Stage, 'address'>,
  fromMs: number,
  toMs: number,
): Promise<readonly (readonly (number | null)[])[]> {
  const queries = SHOWN.map(({ metric, function: fn }) => ({ metric, function: fn }))
  const { results } = await ask<Answer>(stage, '/api/v1/query', { fromMs, toMs, stepMs: STEP_MS, queries })
  return SHOWN.map(({ labels = {} }, at) => {
    const isOf = (own: Readonly<Record<string, string>>) =>
      Object.entries(labels).every(([name, value]) => own[name] === value)
    return results[at]?.series.find((series) => isOf(series.labels))?.values ?? []
  })
}

const FACTORS: Readonly<Record<string, number>> = {
  '%': 0.01,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  m: 1e-3,
  µ: 1e-6,
  n: 1e-9,
}

/** Whether a cell of the page is a number, but for its rounding. */
function isShown(text: string, unit: string, expected: number): boolean {
  const factor = /^(d|°|\/|$|s$)/.test(unit) ? 1 : (FACTORS[unit.charAt(0)] ?? Number.NaN)
  const plain = text.replaceAll('−', '-').replace(/[^\d.e-]/gu, '')
  const [digits = '', power = '0'] = plain.split('e')
  const lastDigit = 10 ** (Number(power) - (digits.split('.')[1]?.length ?? 0))
  return Math.abs(Number(plain) - expected / factor) <= 0.51 * lastDigit
}

/** The columns of the table of a chart, by name: unit and cells, newest first. */
async function tableOf(
  page: Page,
  title: string,
): Promise<(name: string) => { unit: string; cells: readonly string[] }> {
  const chart = page.getByRole('region', { name: title, exact: true })
  await chart.getByRole('group').focus()
  await page.keyboard.press('t')
  await chart.locator('table').waitFor()
  const plain = (words: string) => words.replace(/\s+/gu, ' ').trim()
  const heads = (await chart.getByRole('columnheader').allInnerTexts()).map(plain)
  const rows = await rowsOf(chart)
  return (name) => {
    const at = heads.findIndex((head) => head === name || head.startsWith(`${name} `))
    assert.ok(at > 0, `${title} has no column ${name}: ${heads.join(' | ')}`)
    return { unit: heads[at]!.slice(name.length).trim(), cells: rows.map((cells) => cells[at] ?? '') }
  }
}

function rowsOf(chart: Locator): Promise<string[][]> {
  return chart
    .locator('tbody tr')
    .evaluateAll((rows) => rows.map((one) => [...one.querySelectorAll('th, td')].map((cell) => cell.textContent ?? '')))
}

test('the page of a NIC shows what the libraries report', needs('chromium-headless-shell', 'cc'), async (t) => {
  const nic = doubledNic(t)
  const stage = await startStage(t, nic.args, { env: nic.env })
  const toMs = await until('some seconds of every source', LIMIT_MS, async () => {
    const nowMs = Math.floor(Date.now() / STEP_MS) * STEP_MS - 2 * STEP_MS
    const values = await told(stage, nowMs - WINDOW_MS, nowMs).catch(() => [])
    return values.length > 0 && values.every((one) => one.every((value) => value !== null) && one.length > 2) && nowMs
  })
  const fromMs = toMs - WINDOW_MS
  const words = `from=${new Date(fromMs).toISOString()}&to=${new Date(toMs).toISOString()}`

  await t.test('each panel has the numbers of the API', async () => {
    const answers = await told(stage, fromMs, toMs)
    await stage.visit(`${NIC_PATH}?${words}`, async (page) => {
      await untilDrawn(page)
      const tables = new Map<string, Awaited<ReturnType<typeof tableOf>>>()
      for (const [at, { chart, column }] of SHOWN.entries()) {
        const table = tables.get(chart) ?? (await tableOf(page, chart))
        tables.set(chart, table)
        const { unit, cells } = table(column)
        const wanted = (answers[at] ?? []).toReversed()
        const isSame = cells.every((text, i) => isShown(text, unit, wanted[i] ?? Number.NaN))
        assert.ok(isSame && cells.length === wanted.length, `${chart}, ${column} ${unit}: ${cells} is not ${wanted}`)
      }
    })
  })

  await t.test('facts are those of the double, and data that nobody has are absent with the reason', async (t) => {
    await stage.visit(NIC_PATH, async (page) => {
      await untilDrawn(page)
      const factsOf = (title: string) => page.getByRole('region', { name: `${title} now`, exact: true })
      const link = factsOf('Link quality')
      for (const word of ['< 1e−18', '3.0e−9', 'standard RS 544/514', 'MMS4X00-NS400', '55 °C', '256 ns'])
        await link.getByText(word, { exact: true }).waitFor()
      await factsOf('Congestion').getByText('example algorithm, version 2.7', { exact: true }).waitFor()
      await factsOf('PCIe').getByText('Gen5 ×16', { exact: true }).waitFor()
      await factsOf('Data-path accelerator').getByText('50.0 %', { exact: true }).waitFor()
      await page
        .getByText(/^Absent\. No library, driver or file of the kernel measures the round trip of RDMA/)
        .waitFor()
      await page.getByText(/^Absent\. No library reports how full the queues of the accelerator are/).waitFor()
      await takePicture(t, page, 'nic-double')
      await assertSound(page)

      const stalled = { pci_perf_counters_1: { outbound_stalled_writes: 83 } }
      nic.play({ ...FULL_NIC, structures: stalled })
      await factsOf('PCIe').getByText('83.0 %', { exact: true }).waitFor()
    })
  })

  await t.test('a link to a section shows it, and on a phone every number is in view', async () => {
    await stage.visit(
      `${NIC_PATH}#pcie`,
      async (page) => {
        await untilDrawn(page)
        await page.waitForFunction(() => (document.getElementById('pcie')?.getBoundingClientRect().top ?? 1e9) < 400)
        const cut = await page.evaluate(
          () =>
            [...document.querySelectorAll('.chart .readout-value, .fact-value')].filter((value) => {
              const { left, right } = value.getBoundingClientRect()
              return left < 0 || right > innerWidth
            }).length,
        )
        assert.equal(cut, 0)
        await page.getByRole('link', { name: 'Link quality' }).click()
        await page.waitForFunction(() => location.hash === '#link')
      },
      { viewport: SCREENS.phone },
    )
  })
})
