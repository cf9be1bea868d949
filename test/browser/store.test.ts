import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { ask } from '../ask.ts'
import { needs } from '../debian.ts'
import { until } from '../sonde-process.ts'
import { SHOW_LIMIT_MS, type Stage, startStage, takePicture, untilDrawn } from './browser.ts'
import { chartNamed } from './chart.ts'

/** A file limit below what the store has already written fails every write of it, as a full disk would. */
const FULL_BYTES = '4096:unlimited'
const FREE_BYTES = 'unlimited:unlimited'

test(
  'a store that cannot write is told of on the page, live values go on, and it recovers',
  needs('chromium-headless-shell'),
  async (t) => {
    const stage = await startStage(t)
    const look = async (page: Page): Promise<void> => {
      await untilDrawn(page)
      await until('something written', SHOW_LIMIT_MS, async () => (await storeOf(stage)).ackedMs > 0)
      limitFiles(stage, FULL_BYTES)
      await page.locator('.banner').getByText('History is not being written').waitFor({ timeout: 60_000 })
      await takePicture(t, page, 'state-store-failing')
      const busy = chartNamed(page, 'Processors busy')
      const shown = await busy.picture()
      await until('the chart to go on', SHOW_LIMIT_MS, async () => (await busy.picture()) !== shown)
      limitFiles(stage, FREE_BYTES)
      await page.locator('.banner').waitFor({ state: 'detached', timeout: 60_000 })
      assert.equal((await storeOf(stage)).state, 'writing')
    }
    await stage.visit('/?range=5m', look)
  },
)

test('a store file that is damaged is set aside, and the page says so', needs('chromium-headless-shell'), async (t) => {
  const stage = await startStage(t)
  await until('something written', SHOW_LIMIT_MS, async () => (await storeOf(stage)).ackedMs > 0)
  await stage.sonde.stop()
  writeFileSync(join(stage.dataDir, 'store.db'), 'SQLite format 3\0 and then nothing that SQLite wrote')
  await stage.restart()
  await stage.visit('/sources', async (page) => {
    await page
      .getByText(/was damaged .* set aside as/)
      .first()
      .waitFor()
    await takePicture(t, page, 'state-store-damaged')
  })
})

test('what was seen before a restart is still there after it', needs('chromium-headless-shell'), async (t) => {
  const stage = await startStage(t)
  await until('ten seconds of history', 60_000, async () => {
    const { ackedMs, startedMs } = await storeOf(stage)
    return ackedMs > startedMs + 10_000
  })
  const { startedMs } = await storeOf(stage)
  await stage.sonde.stop()
  await stage.restart()
  const window = [startedMs + 2_000, startedMs + 10_000].map((ms) => new Date(ms).toISOString())
  await stage.visit(`/?from=${window[0]}&to=${window[1]}`, async (page) => {
    await untilDrawn(page)
    const busy = chartNamed(page, 'Processors busy')
    await until('the history', SHOW_LIMIT_MS, async () => /cpu 0 \d.*No gap/.test(await busy.sentence()))
  })
})

interface StoreAnswer {
  readonly state: string
  readonly ackedMs: number
  readonly startedMs: number
}

async function storeOf(stage: Stage): Promise<StoreAnswer> {
  const { startedMs, store } = await ask<{ startedMs: number; store: StoreAnswer }>(stage, '/api/v1/node')
  return { ...store, startedMs }
}

function limitFiles({ sonde }: Stage, limit: string): void {
  execFileSync('prlimit', ['--pid', String(sonde.child.pid), `--fsize=${limit}`])
}
