import assert from 'node:assert/strict'
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Random } from '../../../packages/sdk/test/random.ts'
import { ask, metricLinesOf } from '../../ask.ts'
import { type SondeProcess, startSonde, temporaryDir, until } from '../../sonde-process.ts'
import { type FaultLoop, inTurn } from '../loop.ts'
import { NarrowCounter } from './narrow-counter.ts'

const SOUND = 'mlx5_0'
const STRUCK = 'mlx5_1'
const ADDRESSES: Readonly<Record<string, string>> = { [SOUND]: '0000:18:00.0', [STRUCK]: '0000:3a:00.0' }
const WORD_BYTES = 4
const WRAP = 2 ** 32
const INTERVAL_MS = 20
const LIMIT_MS = 15_000
/** Texts that are no count, and one that is and has spaces around it. */
const ODD = ['N/A (no PMA)', '-5', '+5', '', '1e3', '0x10', '18446744073709551616', 'x', '<unknown>']

const portOf = (device: string) => `sys/class/infiniband/${device}/ports/1`

function write(root: string, files: Readonly<Record<string, string | number>>): void {
  for (const [path, value] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), `${value}\n`)
  }
}

/** An adapter as the kernel shows it, with counters that all say the same. */
function writeAdapter(root: string, device: string, value: number): void {
  const address = ADDRESSES[device] as string
  const place = `sys/devices/pci0000:17/${address}`
  const port = portOf(device)
  write(root, {
    [`${place}/vendor`]: '0x15b3',
    [`${place}/device`]: '0x1021',
    [`${place}/class`]: '0x020700',
    [`${place}/current_link_speed`]: '32.0 GT/s PCIe',
    [`${place}/max_link_speed`]: '32.0 GT/s PCIe',
    [`${place}/current_link_width`]: 16,
    [`${place}/max_link_width`]: 16,
    [`${place}/aer_dev_correctable`]: `RxErr 0\nBadTLP ${value}\nTOTAL_ERR_COR ${value}`,
    [`${port}/state`]: '4: ACTIVE',
    [`${port}/phys_state`]: '5: LinkUp',
    [`${port}/rate`]: '400 Gb/sec (4X NDR)',
    [`${port}/link_layer`]: 'Ethernet',
    [`${port}/counters/port_xmit_data`]: value,
    [`${port}/counters/port_rcv_data`]: value,
    [`${port}/counters/symbol_error`]: value % 65_535,
    // Above 32 bits: this driver widens its counters itself, so the metric equals the file.
    [`${port}/hw_counters/packet_seq_err`]: WRAP + value,
    [`${port}/hw_counters/lifespan`]: 10,
  })
  link(root, `sys/bus/pci/devices/${address}`, `../../../devices/pci0000:17/${address}`)
  link(root, `sys/class/infiniband/${device}/device`, `../../../devices/pci0000:17/${address}`)
}

function link(root: string, path: string, target: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  rmSync(join(root, path), { force: true })
  symlinkSync(target, join(root, path))
}

function linesOf(device: string, value: number): string[] {
  return [
    `rdma_port_xmit_data_bytes_total{rdma_device="${device}",port="1"} ${value * WORD_BYTES}`,
    `rdma_hw_packet_seq_err_total{rdma_device="${device}",port="1"} ${WRAP + value}`,
    `pci_aer_errors_total{pci_address="${ADDRESSES[device]}",severity="correctable",error="BadTLP"} ${value}`,
  ]
}

/** What counters do that they should not, each for a while. Files are those of the struck adapter. */
const MISDEEDS: Readonly<Record<string, (root: string, random: Random, value: number) => void>> = {
  freeze: () => undefined,
  backwards: (root, random, value) => writeAdapter(root, STRUCK, random.integer(0, value)),
  jump: (root, _random, value) => writeAdapter(root, STRUCK, value + WRAP),
  wrap(root, random) {
    const file = `${portOf(STRUCK)}/hw_counters/packet_seq_err`
    for (const value of [WRAP - random.integer(1, 1000), random.integer(0, 1000)]) write(root, { [file]: value })
  },
  saturate: (root) => write(root, { [`${portOf(STRUCK)}/counters/symbol_error`]: 65_535 }),
  odd(root, random) {
    const [port, place] = [portOf(STRUCK), `sys/devices/pci0000:17/${ADDRESSES[STRUCK]}`]
    const files = [
      `${port}/counters/port_xmit_data`,
      `${port}/hw_counters/packet_seq_err`,
      `${place}/aer_dev_correctable`,
    ]
    for (const file of files) write(root, { [file]: random.pick(ODD) })
  },
  /** Away and back again and again, so that sweeps meet it half gone. */
  vanish(root, random, value) {
    for (let times = random.integer(1, 40); times > 0; times--) {
      const folder = random.pick([`${portOf(STRUCK)}/counters`, portOf(STRUCK), `sys/class/infiniband/${STRUCK}`])
      rmSync(join(root, folder), { recursive: true, force: true })
      if (random.integer(0, 3) > 0) writeAdapter(root, STRUCK, value)
    }
  },
  rename(root) {
    const folder = (name: string) => join(root, 'sys/class/infiniband', name)
    renameSync(folder(STRUCK), folder('rocep58s0'))
  },
}

async function awaitLines(sonde: SondeProcess, wanted: readonly string[], what: string): Promise<void> {
  let missing: string[] = []
  await until(what, LIMIT_MS, async () => {
    const lines = await metricLinesOf(sonde)
    missing = wanted.filter((line) => !lines.has(line))
    return missing.length === 0
  }).catch((cause: unknown) => {
    throw new Error(`${what}: never ${missing.join(' · ')}`, { cause })
  })
}

/**
 * Rates of everything, of the last minute: none is below 0, and those of the sound adapter are no larger than what it
 * counted.
 */
async function checkRates(sonde: SondeProcess, counted: number): Promise<number> {
  const metrics = ['rdma_port_xmit_data_bytes_total', 'rdma_hw_packet_seq_err_total', 'pci_aer_errors_total']
  const toMs = Date.now()
  const queries = metrics.map((metric) => ({ metric, function: 'increase' }))
  const { results } = await ask<{
    results: {
      series: {
        labels: { rdma_device?: string; pci_address?: string }
        values: (number | null)[]
        resetsMs: number[]
      }[]
    }[]
  }>(sonde, '/api/v1/query', { fromMs: toMs - 60_000, toMs, stepMs: 1000, queries })
  for (const { series } of results)
    assert.ok(series.some(({ labels }) => labels.rdma_device === SOUND || labels.pci_address === ADDRESSES[SOUND]))
  let resets = 0
  for (const { labels, values, resetsMs } of results.flatMap(({ series }) => series)) {
    resets += resetsMs.length
    for (const value of values)
      assert.ok(value === null || value >= 0, `${labels.rdma_device ?? labels.pci_address} counted ${value}`)
    if (labels.rdma_device !== SOUND) continue
    const sum = values.reduce<number>((total, value) => total + (value ?? 0), 0)
    assert.ok(sum <= counted * WORD_BYTES, `${SOUND} counted ${sum}, and was told ${counted}`)
    assert.equal(resetsMs.length, 0, `${SOUND} never restarted`)
  }
  return resets
}

/** Lets the counters of one adapter misbehave beside one that does not. */
export const counters: FaultLoop = {
  name: 'counters',
  what: 'counters of one adapter go backwards, freeze, wrap, jump by 2^32, say N/A or a sign, and leave amid a sweep: those of the other are exact all the while, no rate is below 0, and all is exact once it is mended; a counter of 32 bits that wraps and restarts gains exactly what it counted',
  testRounds: 8,
  async open() {
    const dir = temporaryDir()
    const root = dir.path
    let value = 1000
    for (const device of [SOUND, STRUCK]) writeAdapter(root, device, value)
    write(root, { 'proc/stat': 'cpu0 1 2 3 4 5 6 7 8 9 10', 'sys/class/net/.keep': '' })
    const kinds = ['rdma', 'pci'].map((type) => `  - { type: ${type}, interval_ms: ${INTERVAL_MS} }`)
    writeFileSync(join(root, 'sonde.yaml'), `data_sources:\n${kinds.join('\n')}\n`)
    const roots = ['--path.procfs', join(root, 'proc'), '--path.sysfs', join(root, 'sys')]
    const narrow = new NarrowCounter(SOUND, (raw) =>
      write(root, { [`${portOf(SOUND)}/hw_counters/out_of_sequence`]: raw }),
    )
    const sonde = await startSonde(['agent', '--config', join(root, 'sonde.yaml'), ...roots, '--log-level', 'error'])
    let resets = 0
    let restarts = 0
    return {
      async round(random) {
        const misdeed = inTurn(random, Object.keys(MISDEEDS))
        MISDEEDS[misdeed]?.(root, random, value)
        value += random.integer(1, 1000)
        writeAdapter(root, SOUND, value)
        await awaitLines(sonde, linesOf(SOUND, value), `the sound adapter during ${misdeed}`)
        resets = Math.max(resets, await checkRates(sonde, value - 1000))
        rmSync(join(root, 'sys/class/infiniband/rocep58s0'), { recursive: true, force: true })
        value += 1
        for (const device of [SOUND, STRUCK]) writeAdapter(root, device, value)
        await awaitLines(
          sonde,
          [SOUND, STRUCK].flatMap((device) => linesOf(device, value)),
          `both after ${misdeed}`,
        )
        // It takes several sweeps.
        if (random.chance(0.25)) restarts += await narrow.check(sonde, random)
      },
      async close() {
        const end = await sonde.stop()
        dir.remove()
        assert.equal(end, 0, sonde.output())
        return `up to ${resets} restarts of counters told in a minute, and ${restarts} of a counter of 32 bits`
      },
    }
  },
}
