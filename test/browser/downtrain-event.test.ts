import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { EventAnswer, IncidentsAnswer } from '@sonde/sdk/api'
import { eventPath, eventsIn } from '../../packages/agent/test/events-in.ts'
import { ask } from '../ask.ts'
import { needs } from '../debian.ts'
import { temporaryDir, until } from '../sonde-process.ts'
import { SHOW_LIMIT_MS, startStage } from './browser.ts'
import { lookEverywhere } from './look-everywhere.ts'

/** The link trains down 25 s after the start, and the first part of the event is kept 20 s later. */
const EVENT_LIMIT_MS = 120_000
const DEVICE = 'sim-nic-mlx5_3-1'
const EXAMPLES = join(import.meta.dirname, '../../examples')

test(
  'the example of traceback opens an event of a link that trains down, whose page says what changed first',
  needs('chromium-headless-shell'),
  async (t) => {
    const dir = temporaryDir()
    t.after(() => dir.remove())
    // The configuration names its rules from the folder of the clone.
    const env = { SONDE_TRACEBACK_RULES: join(EXAMPLES, 'traceback-rules.json'), SONDE_TRACEBACK_DIR: dir.path }
    const config = ['--config', join(EXAMPLES, 'traceback.yaml')]
    const stage = await startStage(t, ['--simulate=pcie-downtrain::25', '--only-simulated', ...config], { env })
    const answer = await until('the first part of the event of the NIC', EVENT_LIMIT_MS, async () => {
      const { events } = eventsIn(await ask<IncidentsAnswer>(stage, `/api/v1/incidents?kind=event&device=${DEVICE}`))
      if (events[0]?.parts === undefined) return undefined
      const answer = await ask<EventAnswer>(stage, `${eventPath(events[0].id)}/lanes`)
      return answer.event.sizeBytes > 0 && answer.event.endMs !== undefined && answer
    })
    const { event } = answer
    const path = eventPath(event.id).replace('/api/v1', '')
    assert.equal(answer.lanes.length, 64)
    assert.ok(answer.lanes[0]?.isOfRule, 'the signal of the rule is the first')
    assert.equal(answer.lanesKept, answer.lanes.length + answer.lanesLeftOut)
    // Two interfaces of one adapter are told apart by their label.
    const placed = answer.lanes.filter(({ name, kind }) =>
      (kind === 'netdev' ? /simulated=/ : /simulated=|UUID=|gpu=|device=/).test(name),
    )
    assert.deepEqual(placed, [], 'the device has a name of its own, its labels tell nothing more')
    const kinds = new Set(answer.lanes.map(({ kind }) => kind))
    for (const kind of ['pci', 'netdev', 'gpu']) assert.ok(kinds.has(kind), `${kind} among ${[...kinds]}`)
    const file = await fetch(`${stage.address}/api/v1${path}/file`)
    assert.equal((await file.arrayBuffer()).byteLength, event.sizeBytes)

    await stage.visit(path, async (page) => {
      const order = page.locator('.headline')
      await order.getByText('PCIe').first().waitFor()
      const words = await order.innerText()
      assert.match(words, /^(PCIe|NIC)( and (PCIe|NIC))? changed first/)
      // The link and the NIC change, in this order or within their uncertainty; then the GPUs wait for them.
      assert.match(words, /(PCIe|NIC) [^±]+±[^,]+?( or|, then) (PCIe|NIC) [^±]+±/)
      assert.doesNotMatch(words, /GPU [^±]+±[^±]+(PCIe|NIC) [^±]+±/)
      await page.locator('.onset-row').first().waitFor()
      const names = await page.locator('.lanes h3').allInnerTexts()
      assert.deepEqual(
        names.map((name) => name.replace(/[\d\s]+$/, '')),
        ['Signal of the rule', 'PCIe', 'NIC', 'GPU'],
      )
      await lookEverywhere(t, page, 'event-downtrain')
      await page.getByRole('searchbox', { name: 'Find among all signals' }).fill('temp gpu 3')
      await page.locator('.lane-row', { hasText: 'gpu_temp' }).first().waitFor()
      await until('no other lane', SHOW_LIMIT_MS, async () =>
        (await page.locator('.lane-row .lane-title').allInnerTexts()).every((name) => /temp/.test(name)),
      )
      assert.match(page.url(), /q=temp/)
      await page.getByRole('searchbox', { name: 'Find among all signals' }).fill('')
      await page.getByRole('combobox', { name: 'Kind' }).selectOption('pci')
      await until('signals of PCIe alone', SHOW_LIMIT_MS, async () => {
        const groups = await page.locator('.lanes h3').allInnerTexts()
        return groups.length > 0 && groups.every((name) => /^(Signal of the rule|PCIe)/.test(name))
      })
      assert.match(page.url(), /kind=pci/)
      const tops = await page
        .locator('.lanes-tools > *')
        .evaluateAll((tools) => tools.map((tool) => Math.round(tool.getBoundingClientRect().bottom)))
      assert.ok(Math.max(...tops) - Math.min(...tops) < 8, `the tools stand in one line: ${tops}`)
      const download = page.waitForEvent('download')
      await page.getByRole('link', { name: 'Samples' }).click()
      assert.equal((await download).suggestedFilename(), `event-${event.id}.bin`)
    })
  },
)
