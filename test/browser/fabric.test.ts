import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { ask } from '../ask.ts'
import { needs } from '../debian.ts'
import { until } from '../sonde-process.ts'
import { assertSound } from './axe.ts'
import { SCREENS, SHOW_LIMIT_MS, takePicture, untilDrawn } from './browser.ts'
import { chartNamed } from './chart.ts'
import { shareSimulatedStage } from './simulated.ts'

test(
  'all ports of a simulated node stand side by side, and the one at fault is lit',
  needs('chromium-headless-shell'),
  async (t) => {
    const stage = await shareSimulatedStage(t)
    await until('the ports', SHOW_LIMIT_MS, async () => {
      const { devices } = await ask<{ devices: { kind: string }[] }>(stage, '/api/v1/devices')
      return devices.filter(({ kind }) => kind === 'nic').length === 9
    })

    await t.test('a row a port, with what its link is; the filter and the sort are in the address', async () => {
      await stage.visit('/fabric', async (page) => {
        await untilDrawn(page)
        await until('nine rows', SHOW_LIMIT_MS, async () => (await portNames(page)).length === 9)
        assert.equal((await portNames(page))[0], 'NIC 0')
        const row = rowOf(page, 'NIC 3')
        await row.getByText('Active').waitFor()
        await row.getByText('Gen5 ×16').waitFor()
        await row.getByText('400 Gb/s').waitFor()
        await page.getByRole('searchbox', { name: 'Filter ports' }).fill('mlx5_bond')
        await page.waitForURL(/q=mlx5_bond/)
        assert.deepEqual(await portNames(page), ['mlx5_bond_0'])
        await page.getByRole('searchbox', { name: 'Filter ports' }).fill('')
        const sorts = () =>
          page
            .locator('#port-table')
            .locator('xpath=ancestor::section')
            .locator('th')
            .evaluateAll((heads) =>
              heads.flatMap((head) => (head.ariaSort ? [`${head.textContent} ${head.ariaSort}`] : [])),
            )
        assert.deepEqual(await sorts(), ['State descending'], 'the default order has its caret too')
        await page.getByRole('button', { name: /^Port/ }).click()
        await page.waitForURL(/sort=port/)
        assert.deepEqual(await sorts(), ['Port ascending'])
        await page.getByRole('button', { name: /^Port/ }).click()
        await page.waitForURL(/sort=-port/)
        assert.deepEqual(await sorts(), ['Port descending'])
        assert.equal((await portNames(page)).at(-1), 'NIC 0')
        await page.getByRole('link', { name: 'NIC 3', exact: true }).click()
        await page.waitForURL(/\/fabric\/sim-nic-mlx5_3-1/)
      })
    })

    await t.test('every signal has its chart, as a herd with the line rate as its limit', async () => {
      await stage.visit('/fabric?range=5m', async (page) => {
        await untilDrawn(page)
        for (const title of ['Sent', 'Paused by the fabric', 'ECN marked', 'Sequence errors', 'PCIe writes stalled']) {
          const chart = chartNamed(page, title)
          await until(title, SHOW_LIMIT_MS, async () => /(8 ports|7 peers) [\d<]/.test(spaced(await chart.sentence())))
        }
        assert.ok((await page.locator('.chart').count()) >= 20)
      })
    })

    await t.test('a storm on one rail lights that port in table and chart, and no other', async (t) => {
      const scenario = { name: 'retransmission-storm', device: 'sim-nic-mlx5_3-1', severity: 0.002 }
      await ask(stage, '/api/v1/simulator/scenarios', scenario)
      await stage.visit('/fabric?range=5m', async (page) => {
        await untilDrawn(page)
        await until('the port at fault first', 60_000, async () => {
          const odd = await page.locator('tr:has(td.is-odd) th a').allInnerTexts()
          return (await portNames(page))[0] === 'NIC 3' && odd.includes('NIC 3')
        })
        const odd = page.locator('tr:has(td.is-odd)').filter({ hasNotText: 'NIC 3' })
        assert.equal(await odd.count(), 0)
        const chart = chartNamed(page, 'Sequence errors')
        await until('the lit line', SHOW_LIMIT_MS, async () => /NIC 3 [1-9]/.test(spaced(await chart.sentence())))
        await takePicture(t, page, 'fabric-storm')
        await assertSound(page)
      })
    })

    await t.test('the header of a chart says the lit port before all else, however small the screen', async () => {
      for (const viewport of [SCREENS.desk, SCREENS.phone, { width: 320, height: 800 }]) {
        await stage.visit(
          '/fabric?range=5m',
          async (page) => {
            await untilDrawn(page)
            const chart = page.getByRole('region', { name: 'Sequence errors', exact: true })
            const readout = chart.locator('.readout').filter({ hasText: 'NIC 3' })
            await readout.waitFor({ state: 'attached' })
            // What has no room is in the document, below the one line that is seen.
            assert.ok(await readout.evaluate(isWhollySeen), `no NIC 3 at ${viewport.width}`)
          },
          { viewport },
        )
      }
    })

    await t.test('it is sound on a small screen in the dark, and nothing scrolls sideways', async (t) => {
      await stage.visit(
        '/fabric',
        async (page) => {
          await untilDrawn(page)
          await until('nine rows', SHOW_LIMIT_MS, async () => (await portNames(page)).length === 9)
          await takePicture(t, page, 'fabric-ports-390-dark')
          await assertSound(page)
          const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
          assert.equal(overflow, 0)
        },
        { viewport: SCREENS.phone, colorScheme: 'dark' },
      )
    })
  },
)

test(
  'the fabric page moves ten times a second where its ports are read that often',
  needs('chromium-headless-shell'),
  async (t) => {
    const stage = await shareSimulatedStage(t, 100)
    await stage.visit('/fabric?range=30s', async (page) => {
      await untilDrawn(page)
      const region = page.getByRole('region', { name: 'Sent', exact: true })
      await region.getByText('100 ms step').waitFor()
      const chart = chartNamed(page, 'Sent')
      const pictures = new Set<string>()
      await until('drawings', SHOW_LIMIT_MS, async () => pictures.add(await chart.picture()).size > 10)
      assert.equal(await page.getByText('Live stopped').count(), 0)
    })
  },
)

/** Runs in the page. Whether an element lies in the line of readouts that holds it. */
function isWhollySeen(element: Element): boolean {
  const line = element.closest('.readouts')?.getBoundingClientRect()
  const own = element.getBoundingClientRect()
  return line !== undefined && own.left >= line.left - 1 && own.right <= line.right + 1 && own.bottom <= line.bottom + 1
}

/** Names of the ports in the order of the table. */
async function portNames(page: Page): Promise<string[]> {
  return page.getByRole('region', { name: 'Table of ports' }).locator('tbody th a').allInnerTexts()
}

function rowOf(page: Page, name: string) {
  const link = page.getByRole('link', { name, exact: true })
  return page.getByRole('region', { name: 'Table of ports' }).getByRole('row').filter({ has: link })
}

function spaced(text: string): string {
  return text.replaceAll('\u00a0', ' ')
}
