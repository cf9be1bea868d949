import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { EventAnswer, EventsAnswer } from '@sonde/sdk/internal'
import { ask } from '../ask.ts'
import { needs } from '../debian.ts'
import { temporaryDir, until } from '../sonde-process.ts'
import { SHOW_LIMIT_MS, startStage } from './browser.ts'
import { lookEverywhere } from './look-everywhere.ts'

/**
 * The link trains down 25 s after the start, when samples come in time on a busy machine too; the event ends 5 samples
 * later, and its window 8 samples after that.
 */
const EVENT_LIMIT_MS = 120_000
const DEVICE = 'sim-nic-mlx5_3-1'
const RULES = {
  signals: [{ name: 'PCIe width', type: 'pci_device', field: 'current_link_bandwidth_bytes' }],
  sample_history_depth: 8,
  rules: [{ name: 'PCIe link changed', signal: 'PCIe width', comparison_type: 'change', deactivate_samples: 5 }],
}

test(
  'a simulated PCIe link that trains down opens an event, whose page shows PCIe, NIC and GPU in their order',
  needs('chromium-headless-shell'),
  async (t) => {
    const dir = temporaryDir()
    t.after(() => dir.remove())
    const [config, rules] = [join(dir.path, 'sonde.yaml'), join(dir.path, 'rules.json')]
    writeFileSync(rules, JSON.stringify(RULES))
    writeFileSync(config, `traceback:\n  rules: ${rules}\n  dir: ${join(dir.path, 'events')}\n`)
    const stage = await startStage(t, ['--simulate=pcie-downtrain::25', '--only-simulated', '--config', config])
    const event = await until('the event of the NIC', EVENT_LIMIT_MS, async () => {
      const { events } = await ask<EventsAnswer>(stage, `/api/v1/events?state=closed&device=${DEVICE}`)
      return events[0]
    })
    const path = `/events/${event.id}`
    const answer = await ask<EventAnswer>(stage, `/api/v1${path}`)
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
