import assert from 'node:assert/strict'
import { test } from 'node:test'
import { needs } from '../debian.ts'
import { until } from '../sonde-process.ts'
import { SHOW_LIMIT_MS, startStage, takePicture, untilDrawn } from './browser.ts'
import { chartNamed } from './chart.ts'
import { bytesSent, startTraffic } from './traffic.ts'

const BYTES_PER_SECOND = 2_000_000
const BUSY_ROWS = 6
/**
 * Rounding takes at most half a per cent. The rest is for a busy machine: seconds of the page and of the kernel do not
 * begin at the same moment, and the sender catches up after it had to wait.
 */
const TOLERANCE = 0.05

test(
  'traffic over a real interface moves the chart, and its numbers agree with /proc/net/dev',
  needs('chromium-headless-shell'),
  async (t) => {
    const traffic = await startTraffic(t)
    t.diagnostic(`traffic over ${traffic.device}`)
    const stage = await startStage(t)
    await stage.visit('/?range=5m&view=lines', async (page) => {
      await untilDrawn(page)
      const sent = chartNamed(page, 'Sent')
      await until('a rate before the traffic', SHOW_LIMIT_MS, async () => /\d\s?\w*b\/s/.test(await sent.sentence()))
      const still = await sent.picture()
      traffic.bytesPerSecond = BYTES_PER_SECOND
      await until('the chart to move', SHOW_LIMIT_MS, async () => (await sent.picture()) !== still)
      const tile = page.getByRole('link', { name: traffic.device })
      // A loopback carries what others send as well.
      const expected = traffic.isAlone ? /1[567](\.\d)?\s*Mb\/s/ : /\d\s*Mb\/s/
      await until('the rate on the tile', SHOW_LIMIT_MS, async () => expected.test(await tile.innerText()))

      await sent.group.press('t')
      const rows = new Map<string, number>()
      const gather = async (): Promise<number[]> => {
        for (const [time, bits] of await sent.rows(traffic.device)) rows.set(time, bits)
        return [...rows].sort().map(([, bits]) => bits)
      }
      const isBusy = (bits: number | undefined): boolean => bits !== undefined && bits > BYTES_PER_SECOND
      await until('a busy row in the table', 60_000, async () => (await gather()).some(isBusy))
      const [fromBytes, fromMs] = [bytesSent(traffic.device), performance.now()]
      await until('busy rows in the table', 60_000, async () => (await gather()).filter(isBusy).length >= BUSY_ROWS)
      const kernelBits = ((bytesSent(traffic.device) - fromBytes) * 8) / ((performance.now() - fromMs) / 1000)
      // The first busy second was busy in part.
      const steady = (await gather()).filter(isBusy).slice(1)
      await takePicture(t, page, 'traffic-table')
      traffic.bytesPerSecond = 0
      await until('quiet rows after the traffic', 60_000, async () => !isBusy((await gather()).at(-2)))

      const shownBits = steady.reduce((sum, bits) => sum + bits, 0) / steady.length
      assert.ok(
        Math.abs(shownBits / kernelBits - 1) < TOLERANCE,
        `the rows say ${shownBits} b/s, /proc/net/dev ${kernelBits} b/s`,
      )
    })
  },
)
