import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { LARGE, SICK } from '../../packages/agent/test/large-node.ts'
import { needs } from '../debian.ts'
import { until } from '../sonde-process.ts'
import { assertSound } from './axe.ts'
import { SCREENS, SHOW_LIMIT_MS, startStage, takePicture, untilDrawn } from './browser.ts'

const MAIN = fileURLToPath(new URL('large-node-main.ts', import.meta.url))
/** Most rows of a long table in the document: those in view, and some around them. */
const DRAWN_MAX_COUNT = 40
/** Most elements of a page: more keep the browser busy for seconds. */
const ELEMENT_MAX_COUNT = 5000

test(
  'hundreds of things are in the order of their sickness, idle ones folded, and few are in the document',
  needs('chromium-headless-shell'),
  async (t) => {
    const stage = await startStage(t, [], { main: MAIN })

    await t.test(
      'interfaces: the sick, then the busiest; idle ones open and fold, and the address says so',
      async (t) => {
        await stage.visit('/fabric', async (page) => {
          await untilDrawn(page)
          const table = tableOf(page, 'Table of interfaces')
          await until('the sick first', SHOW_LIMIT_MS, async () => (await table.names())[0] === SICK.errors)
          const names = await table.names()
          assert.deepEqual(names.slice(0, 4), [SICK.errors, SICK.drops, 'eth194', 'eth189'])
          assert.ok(names.length < DRAWN_MAX_COUNT, `${names.length} rows are in the document`)
          assert.deepEqual(await table.sorts(), ['State descending'])
          assert.equal(await table.rowCount(), LARGE.interfaces.busyCount + 2)
          // One busy interface is sick too.
          const idleCount = LARGE.interfaces.count - LARGE.interfaces.busyCount - 1
          await takePicture(t, page, 'large-fabric')
          const fold = page.getByRole('button', { name: `${idleCount} idle interfaces` })
          assert.equal(await fold.getAttribute('aria-expanded'), 'false')
          await fold.press('Enter')
          await page.waitForURL(/idle=shown/)
          assert.equal(await table.rowCount(), LARGE.interfaces.count + 1)
          assert.ok((await table.names()).length < DRAWN_MAX_COUNT)
          await table.box.focus()
          await page.keyboard.press('End')
          await until(
            'the last row',
            SHOW_LIMIT_MS,
            async () => (await table.lastRowIndex()) === LARGE.interfaces.count + 1,
          )
          await fold.press('Enter')
          await page.waitForURL((url) => !url.search.includes('idle'))
          await table.box.press('Home')
          await until('the first row', SHOW_LIMIT_MS, async () => (await table.names())[0] === SICK.errors)
          await assertSound(page)
        })
      },
    )

    await t.test('another order holds every interface, and is what its caret says', async () => {
      await stage.visit('/fabric?sort=interface', async (page) => {
        await untilDrawn(page)
        const table = tableOf(page, 'Table of interfaces')
        await until('rows', SHOW_LIMIT_MS, async () => (await table.names()).length > 0)
        assert.deepEqual((await table.names()).slice(0, 3), ['eth0', 'eth1', 'eth2'])
        assert.deepEqual(await table.sorts(), ['Interface ascending'])
        assert.equal(await table.rowCount(), LARGE.interfaces.count + 1)
      })
    })

    await t.test('the search of the browser finds a row that is folded, and the table shows it', async () => {
      await stage.visit('/fabric', async (page) => {
        await untilDrawn(page)
        const table = tableOf(page, 'Table of interfaces')
        await until('the sick first', SHOW_LIMIT_MS, async () => (await table.names())[0] === SICK.errors)
        const words = page.locator('.undrawn-words li', { hasText: /^eth12$/ })
        assert.equal(await words.getAttribute('hidden'), 'until-found')
        // What Chromium does when its search finds the words.
        await words.evaluate((element) => element.dispatchEvent(new Event('beforematch', { bubbles: true })))
        await table.box.getByRole('link', { name: 'eth12', exact: true }).waitFor()
      })
    })

    await t.test('disks and file systems of the host', async (t) => {
      await stage.visit('/host', async (page) => {
        await untilDrawn(page)
        const disks = tableOf(page, 'Table of disks')
        await until('disks', SHOW_LIMIT_MS, async () => (await disks.names())[0] === 'nvme399n1')
        assert.deepEqual(await disks.sorts(), ['Busy % descending'])
        assert.equal(await disks.rowCount(), LARGE.disks.busyCount + 1)
        await page.getByRole('button', { name: '370 idle disks' }).waitFor()
        const filesystems = tableOf(page, 'Table of file systems')
        assert.deepEqual((await filesystems.names()).slice(0, 3), [SICK.full, '/data/0', '/data/1'])
        assert.deepEqual(await filesystems.sorts(), ['State descending'])
        const counters = tableOf(page, 'Table of counters')
        await until('counters', SHOW_LIMIT_MS, async () => (await counters.rowCount()) > LARGE.disks.count * 5)
        assert.ok((await counters.names()).length < DRAWN_MAX_COUNT)
        const elementCount = await page.locator('*').count()
        assert.ok(elementCount < ELEMENT_MAX_COUNT, `${elementCount} elements are in the document`)
        await takePicture(t, page, 'large-host')
      })
    })

    await t.test('GPUs, and their tiles', async (t) => {
      await stage.visit('/gpus', async (page) => {
        await untilDrawn(page)
        const table = tableOf(page, 'Table of GPUs')
        await until('GPUs', SHOW_LIMIT_MS, async () => (await table.names())[0] === 'GPU 1')
        assert.equal(await table.rowCount(), LARGE.gpus.busyCount + 1)
        await page.getByRole('button', { name: '10 idle GPUs' }).waitFor()
      })
      await stage.visit('/', async (page) => {
        await untilDrawn(page)
        await page.getByRole('button', { name: '10 idle GPUs' }).press('Enter')
        await page.getByRole('link', { name: /^GPU 0/ }).waitFor()
        await takePicture(t, page, 'large-node')
      })
    })

    await t.test('a node of nothing but interfaces shows the sick and the busiest as tiles', async (t) => {
      await stage.visit(
        '/',
        async (page) => {
          await untilDrawn(page)
          const names = () => page.locator('.tile .tile-name').allInnerTexts()
          await until('tiles', SHOW_LIMIT_MS, async () => (await names())[0] === SICK.errors)
          assert.deepEqual((await names()).slice(0, 3), [SICK.errors, SICK.drops, 'eth194'])
          assert.equal((await names()).length, 24)
          await page.getByRole('link', { name: /and 14 more, 162.idle interfaces/ }).waitFor()
          await takePicture(t, page, 'large-tiles')
        },
        {
          viewport: SCREENS.phone,
          before: (page) =>
            page.route('**/api/v1/devices', (route) => route.fulfill({ json: { nowMs: 0, devices: [] } })),
        },
      )
    })
  },
)

/** A long table as its reader sees it. */
function tableOf(page: Page, name: string) {
  const box = page.getByRole('region', { name })
  return {
    box,
    names: () => box.locator('tbody th').allInnerTexts(),
    sorts: () =>
      box
        .locator('thead th')
        .evaluateAll((heads) =>
          heads.flatMap((head) => (head.ariaSort ? [`${(head as HTMLElement).innerText} ${head.ariaSort}`] : [])),
        ),
    rowCount: async () => Number(await box.locator('table').getAttribute('aria-rowcount')),
    lastRowIndex: async () => Number(await box.locator('tbody tr').last().getAttribute('aria-rowindex')),
  }
}
