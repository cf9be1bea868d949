// Whether the pages that are made from the sources say what the sources say.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { dashboardFiles } from '../dashboards/grafana-json.ts'
import { dashboardsPage } from '../dashboards/page.ts'
import { chartFiles } from '../docs/chart.ts'
import { configurationPage } from '../docs/configuration.ts'
import { readmesWithFields } from '../docs/field-tables.ts'
import { contactLinks, securityPage } from '../docs/front-door.ts'
import { hardwareVerificationPage } from '../docs/hardware-verification.ts'
import { hintsPage } from '../docs/hints.ts'
import { hostPage } from '../docs/host-page.ts'
import { plainManifests } from '../docs/manifests.ts'
import { metricsPage } from '../docs/metrics.ts'
import { openApiText } from '../docs/openapi/document.ts'
import { contributingPage } from '../docs/room-order.ts'
import { rulesSchemaText } from '../docs/rules-schema.ts'
import { rulesWithRunbooks } from '../docs/runbooks.ts'
import { filesOf, root } from './sources.ts'

/** Every generated page, by its path from the root. */
export function generatedPages(): Record<string, string> {
  return {
    '.github/ISSUE_TEMPLATE/config.yml': contactLinks(),
    'CONTRIBUTING.md': contributingPage(),
    'SECURITY.md': securityPage(),
    'docs/configuration.md': configurationPage(),
    'docs/dashboards.md': dashboardsPage(),
    'docs/hardware-verification.md': hardwareVerificationPage(),
    'docs/hints.md': hintsPage(),
    'docs/host.md': hostPage(),
    'docs/metrics.md': metricsPage(),
    'docs/openapi.json': openApiText(),
    'docs/traceback.schema.json': rulesSchemaText(),
    ...readmesWithFields(),
    ...rulesWithRunbooks(),
    ...dashboardFiles(),
    ...chartFiles(),
    ...plainManifests(),
    ...licenses(),
  }
}

/** A copy of the licence for each package, because npm packs no links. */
function licenses(): Record<string, string> {
  const text = readFileSync(join(root, 'LICENSE'), 'utf8')
  return Object.fromEntries(filesOf('packages/*/package.json').map((path) => [join(path, '../LICENSE'), text]))
}

/** The pages that are stale or missing in a folder. Making them all takes a second. */
export function findStalePages(folder: string, pages = generatedPages()): string[] {
  return Object.entries(pages).flatMap(([path, text]) => {
    const file = join(folder, path)
    const isFresh = existsSync(file) && readFileSync(file, 'utf8') === text
    return isFresh ? [] : [`${path} is stale; renew it with: npm run docs`]
  })
}
