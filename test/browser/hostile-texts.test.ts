// Names from outside that are HTML, script or breaks of lines: the page shows them as the texts that they are.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { AppsAnswer } from '@sonde/sdk/api'
import {
  fixture,
  livingBody,
  serveExporter,
  withBody,
} from '../../packages/agent/src/sources/scraping/test-exporter.ts'
import { setUpWeb } from '../../scripts/setup.mjs'
import { ask } from '../ask.ts'
import { needs } from '../debian.ts'
import { startSonde, temporaryDir, until } from '../sonde-process.ts'
import { SHOW_LIMIT_MS, startBrowser, takePicture } from './browser.ts'

const IMAGE = '<img src=x onerror=hacked()>'
const SCRIPT = '</script><script>hacked()</script>'
const LONG = 'w'.repeat(300)

/** As a scrape writes them: `\\`, `"` and breaks of lines with a backslash. */
const BODY = fixture('kubernetes')
  .replaceAll('llama-7d9c-x2x4p', IMAGE)
  .replaceAll('service="chat"', `service="${SCRIPT}\\n\u202e${LONG}"`)
  .replaceAll(/modelName="[^"]*"/g, `modelName="${SCRIPT}"`)

test('names that are HTML or script stay texts on every page', needs('chromium-headless-shell'), async (t) => {
  if (!(await setUpWeb())) assert.fail('the page could not be built')
  const exporter = await serveExporter('')
  t.after(() => exporter.close())
  exporter.answer = (request, response) => withBody(livingBody(BODY))(request, response)
  const dir = temporaryDir()
  t.after(() => dir.remove())
  const file = join(dir.path, 'sonde.yaml')
  const source = { type: 'dcgm_exporter', interval_ms: 1000, collect_interval_ms: 1000, addresses: [exporter.address] }
  writeFileSync(file, JSON.stringify({ data_sources: [source] }))
  const sonde = await startSonde(['up', '--log-level', 'error', '--config', file, '--data-dir', dir.path])
  t.after(() => sonde.stop('SIGKILL'))
  await until('the app', SHOW_LIMIT_MS, async () =>
    (await ask<AppsAnswer>(sonde, '/api/v1/apps')).apps.some(({ name }) => name === 'llama'),
  )
  const browser = await startBrowser()
  t.after(() => browser.close())
  const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage()
  let hacks = 0
  let isMarked = false
  await page.exposeFunction('hacked', () => {
    hacks++
  })
  const faults: string[] = []
  page.on('pageerror', ({ message }) => faults.push(message))
  const app = '/apps/llama/gpu'
  const paths = ['/', app, '/gpus', '/entities', '/sources/dcgm_exporter', '/explorer']
  for (const [at, path] of paths.entries()) {
    await page.goto(sonde.address + path)
    await page.locator('h1').first().waitFor({ timeout: SHOW_LIMIT_MS })
    await page.waitForLoadState('load')
    if (path === app) await page.locator('canvas').nth(3).waitFor({ timeout: SHOW_LIMIT_MS })
    // No name makes the page wider than its window.
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
    assert.ok(wide <= 0, `${path} is ${wide} px too wide`)
    // A character that turns the order of others is shown as what it is.
    const text = await page.evaluate(() => document.body.innerText)
    assert.ok(!text.includes('\u202e'), `${path} shows a name in another order`)
    if (text.includes('hacked()</script>')) isMarked ||= text.includes('⟦U+202E⟧')
    await takePicture(t, page, `hostile-texts-${at}`)
  }
  assert.ok(isMarked, 'the mark is on a page')
  assert.deepEqual([hacks, faults], [0, []])
})
