import { useEffect } from 'react'
import { Redirect, Route, Router, Switch } from 'wouter'
import { useSearch } from 'wouter/use-browser-location'
import { Empty } from './components/empty.tsx'
import { PanelBoundary } from './components/error-boundary.tsx'
import { PageHead } from './components/page-head.tsx'
import { markInvisible } from './format/marked-text.ts'
import {
  AppPage,
  AppsPage,
  EntitiesPage,
  EntityPage,
  ExplainPage,
  ExplorePage,
  FabricPage,
  GpuPage,
  GpusPage,
  HostPage,
  IncidentPage,
  IncidentsPage,
  NodePage,
  NodesPage,
  PciPage,
  PodPage,
  PortPage,
  preloadPages,
  SettingsPage,
  SourcePage,
  SourcesPage,
  TroubleshootingPage,
} from './pages/lazy-pages.ts'
import { OfOneNode } from './pages/of-one-node.tsx'
import { usePageTitle } from './pages/use-page-title.ts'
import { LoginPage } from './shell/login-page.tsx'
import { Shell } from './shell/shell.tsx'
import { pageBase } from './state/node-scope.ts'
import { isLoggedOut } from './state/session.ts'
import { useStore } from './state/value-store.ts'

/** The page: its frame, and what stands in it. */
export function App() {
  useEffect(preloadPages, [])
  const isOut = useStore(isLoggedOut)
  if (isOut) return <LoginPage />
  return (
    <Router base={pageBase()}>
      <Shell>
        <PanelBoundary>
          <Switch>
            <Route path="/">
              <OfOneNode>
                <NodePage />
              </OfOneNode>
            </Route>
            <Route path="/nodes" component={NodesPage} />
            <Route path="/gpus" component={GpusPage} />
            <Route path="/gpus/:device">{({ device }) => <GpuPage key={device} id={meant(device)} />}</Route>
            <Route path="/apps" component={AppsPage} />
            <Route path="/apps/:app/gpu">{({ app }) => <AppPage key={app} app={meant(app)} />}</Route>
            <Route path="/pods/:namespace/:pod">
              {({ namespace, pod }) => (
                <PodPage key={`${namespace}/${pod}`} namespace={meant(namespace)} name={meant(pod)} />
              )}
            </Route>
            <Route path="/fabric">
              <OfOneNode>
                <FabricPage />
              </OfOneNode>
            </Route>
            <Route path="/fabric/:device">
              {({ device }) => (
                <OfOneNode>
                  <PortPage key={device} name={meant(device)} />
                </OfOneNode>
              )}
            </Route>
            <Route path="/fabric/:device/:port">
              {({ device, port }) => <PortPage key={`${device}/${port}`} name={`${meant(device)}/${port}`} />}
            </Route>
            <Route path="/host">
              <OfOneNode>
                <HostPage />
              </OfOneNode>
            </Route>
            <Route path="/pci/:device">{({ device }) => <PciPage key={device} id={meant(device)} />}</Route>
            <Route path="/entities" component={EntitiesPage} />
            <Route path="/entities/:id">{({ id }) => <EntityPage key={id} id={meant(id)} />}</Route>
            <Route path="/incidents" component={IncidentsPage} />
            <Route path="/incidents/:id">{({ id }) => <IncidentPage key={id} id={meant(id)} />}</Route>
            <Route path="/explore" component={ExplorePage} />
            <Route path="/explorer" component={ToExplorer} />
            <Route path="/sources" component={SourcesPage} />
            <Route path="/sources/:name">{({ name }) => <SourcePage key={name} name={meant(name)} />}</Route>
            <Route path="/settings" component={SettingsPage} />
            <Route path="/troubleshooting" component={TroubleshootingPage} />
            <Route path="/explain" component={ExplainPage} />
            <Route>
              <NoPage />
            </Route>
          </Switch>
        </PanelBoundary>
      </Shell>
    </Router>
  )
}

/**
 * A part of a path as it was meant, with marks as in answers. The router leaves characters escaped that addresses
 * reserve, such as the colons of a PCI address.
 */
function meant(part: string): string {
  try {
    return markInvisible(decodeURIComponent(part))
  } catch {
    // A stray per cent sign stands for itself.
    return part
  }
}

/** People type the name of the page. */
function ToExplorer() {
  return <Redirect to={`/explore${useSearch()}`} replace />
}

function NoPage() {
  usePageTitle('No such page')
  return (
    <>
      <PageHead title="No such page" />
      <Empty fact="Nothing is at this address.">The pages that exist are in the navigation.</Empty>
    </>
  )
}
