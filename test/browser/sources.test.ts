import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { needs } from '../debian.ts'
import { temporaryDir } from '../sonde-process.ts'
import { assertSound } from './axe.ts'
import { SCREENS, startStage, takePicture, untilDrawn } from './browser.ts'

test(
  'a source has a page with its state, its settings and what it reports',
  needs('chromium-headless-shell'),
  async (t) => {
    const { path, remove } = temporaryDir()
    t.after(remove)
    const config = join(path, 'sonde.yaml')
    writeFileSync(config, 'data_sources:\n  - type: netdev\n    interval_ms: 500\n  - type: rdma\n')
    mkdirSync(join(path, 'sys'))
    const stage = await startStage(t, ['--config', config, '--path.sysfs', join(path, 'sys')])

    await t.test('a setting says where it came from', async (t) => {
      await stage.visit('/sources', async (page) => {
        await page.getByRole('region', { name: 'Table of sources' }).getByRole('link', { name: 'netdev' }).click()
        await untilDrawn(page)
        const row = page.getByRole('region', { name: 'Table of settings' }).getByRole('row', { name: /^interval_ms/ })
        await row.waitFor()
        assert.match(await row.innerText(), /500\s+.*sonde\.yaml:3/)
        assert.match(await page.title(), /^netdev/)
        await takePicture(t, page, 'source-settings')
      })
    })

    await t.test('the fields of a record type are explained below it, and lead to the explorer', async () => {
      await stage.visit('/sources/netdev', async (page) => {
        await page.getByText('Counters and link state of one network interface').click()
        const fields = page.getByRole('region', { name: 'Fields of netdev' })
        await fields.getByText('Bytes received').first().waitFor()
        await assertSound(page)
        await fields.getByRole('link', { name: 'netdev_rx_bytes_total' }).click()
        await page.waitForURL(/\/explore\?sig=rate:netdev_rx_bytes_total/)
      })
    })

    await t.test(
      'the types of an application lead to their metrics in the explorer, those that are known',
      async (t) => {
        const client = {
          client: '1f',
          program: 'trainer',
          pid: 7,
          connectedMs: 0,
          mode: 'shared',
          records: 1,
          inFlightBytes: 0,
        }
        await stage.visit(
          '/sources',
          async (page) => {
            const row = page
              .getByRole('region', { name: 'Table of applications' })
              .getByRole('row', { name: /^trainer 7/ })
            const link = row.getByRole('link', { name: 'netdev' })
            await link.waitFor()
            assert.match(await row.innerText(), /job \(a, worker=3\), job \(a, worker=4\)\s.*netdev, step/)
            assert.equal(await row.getByRole('link', { name: 'step' }).count(), 0)
            await takePicture(t, page, 'application-types')
            await assertSound(page)
            await link.click()
            await page.waitForURL(/\/explore\?q=netdev/)
            await page.getByRole('link', { name: 'netdev_rx_bytes_total' }).waitFor()
          },
          {
            before: (page) =>
              page.route('**/api/v1/sources', async (route) => {
                const answer = await (await route.fetch()).json()
                const sources = ['3', '4'].map((worker) => ({ id: 'job', tag: 'a', labels: { worker } }))
                const clients = [{ ...client, sources, types: ['netdev', 'step'] }]
                await route.fulfill({ json: { ...answer, clients } })
              }),
          },
        )
      },
    )

    await t.test('an absent one says why, and charts nothing', async (t) => {
      await stage.visit('/sources/rdma', async (page) => {
        await page.getByText('rdma is absent').waitFor()
        await page.getByRole('region', { name: /^The broken link/ }).waitFor()
        assert.equal(await page.locator('.chart').count(), 0)
        await takePicture(t, page, 'source-absent')
      })
    })

    await t.test('a name that no source has leads back to those that there are', async (t) => {
      const phone = { viewport: SCREENS.phone, colorScheme: 'dark' } as const
      await stage.visit(
        '/sources/nvml9',
        async (page) => {
          await page.getByText('No source here is called "nvml9".').waitFor()
          await takePicture(t, page, 'source-unknown-390')
          await assertSound(page)
          await page.locator('main').getByRole('link', { name: 'All sources' }).click()
          await page.getByRole('region', { name: 'Table of sources' }).waitFor()
        },
        phone,
      )
    })

    await t.test('a server that does not tell is told of', async () => {
      await stage.visit(
        '/sources/netdev',
        async (page) => {
          await page.getByText('How netdev fares is not known.').waitFor()
          await assertSound(page)
        },
        {
          expected: /Failed to load resource.*500/,
          before: (page) =>
            page.route('**/api/v1/sources/netdev', (route) =>
              route.fulfill({
                status: 500,
                json: { error: { code: 'HTTP_FAULT', message: 'the request failed here' } },
              }),
            ),
        },
      )
    })
  },
)
