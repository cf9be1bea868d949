import { lazyPage } from './lazy-page.tsx'

/** Every page has its own file. The first load fetches the frame and one page. */
export const NodePage = lazyPage(async () => (await import('./node/node-page.tsx')).NodePage)
export const NodesPage = lazyPage(async () => (await import('./nodes/nodes-page.tsx')).NodesPage)
export const GpusPage = lazyPage(async () => (await import('./gpus/gpus-page.tsx')).GpusPage)
export const GpuPage = lazyPage(async () => (await import('./gpu/gpu-page.tsx')).GpuPage)
export const AppsPage = lazyPage(async () => (await import('./apps/apps-page.tsx')).AppsPage)
export const AppPage = lazyPage(async () => (await import('./app/app-page.tsx')).AppPage)
export const PodPage = lazyPage(async () => (await import('./pod/pod-page.tsx')).PodPage)
export const FabricPage = lazyPage(async () => (await import('./fabric/fabric-page.tsx')).FabricPage)
export const PortPage = lazyPage(async () => (await import('./nic/port-page.tsx')).PortPage)
export const HostPage = lazyPage(async () => (await import('./host/host-page.tsx')).HostPage)
export const PciPage = lazyPage(async () => (await import('./pci/pci-page.tsx')).PciPage)
export const EntitiesPage = lazyPage(async () => (await import('./entities/entities-page.tsx')).EntitiesPage)
export const EntityPage = lazyPage(async () => (await import('./entity/entity-page.tsx')).EntityPage)
export const IncidentsPage = lazyPage(async () => (await import('./incidents/incidents-page.tsx')).IncidentsPage)
export const IncidentPage = lazyPage(async () => (await import('./incident/incident-page.tsx')).IncidentPage)
export const ExplorePage = lazyPage(async () => (await import('./explore/explore-page.tsx')).ExplorePage)
export const SourcesPage = lazyPage(async () => (await import('./sources/sources-page.tsx')).SourcesPage)
export const SourcePage = lazyPage(async () => (await import('./source/source-page.tsx')).SourcePage)
export const SettingsPage = lazyPage(async () => (await import('./settings/settings-page.tsx')).SettingsPage)
export const TroubleshootingPage = lazyPage(
  async () => (await import('./troubleshooting/troubleshooting-page.tsx')).TroubleshootingPage,
)
export const ExplainPage = lazyPage(async () => (await import('./explain/explain-page.tsx')).ExplainPage)

/** Delay before other pages load, so that the first page has the whole connection. Unit: milliseconds. */
const PRELOAD_AFTER_MS = 2_000

/**
 * Loads the other pages after the first page was drawn, so that they open without a placeholder. Returns a function
 * that cancels the wait.
 */
export function preloadPages(): () => void {
  const preload = (): void => {
    for (const page of [NodePage, GpusPage, GpuPage, FabricPage, PortPage, PciPage, ExplorePage]) void page.preload()
    for (const page of [
      AppsPage,
      AppPage,
      PodPage,
      IncidentsPage,
      IncidentPage,
      SourcesPage,
      SourcePage,
      ExplainPage,
      HostPage,
      SettingsPage,
      TroubleshootingPage,
      EntitiesPage,
      EntityPage,
    ])
      void page.preload()
  }
  const timer = setTimeout(() => requestIdleCallback(preload), PRELOAD_AFTER_MS)
  return () => clearTimeout(timer)
}
