import { useEffect } from 'react'
import { Route, Switch } from 'wouter'
import { Empty } from './components/empty.tsx'
import { PanelBoundary } from './components/error-boundary.tsx'
import { PageHead } from './components/page-head.tsx'
import {
  ExplainPage,
  ExplorePage,
  FabricPage,
  GpuPage,
  GpusPage,
  NodePage,
  PciPage,
  PortPage,
  preloadPages,
  SourcePage,
  SourcesPage,
} from './pages/lazy-pages.ts'
import { usePageTitle } from './pages/use-page-title.ts'
import { Shell } from './shell/shell.tsx'

/** The page: its frame, and what stands in it. */
export function App() {
  useEffect(preloadPages, [])
  return (
    <Shell>
      <PanelBoundary>
        <Switch>
          <Route path="/" component={NodePage} />
          <Route path="/gpus" component={GpusPage} />
          <Route path="/gpus/:device">{({ device }) => <GpuPage key={device} id={device} />}</Route>
          <Route path="/fabric" component={FabricPage} />
          <Route path="/fabric/:device">{({ device }) => <PortPage key={device} name={device} />}</Route>
          <Route path="/pci/:device">{({ device }) => <PciPage key={device} id={device} />}</Route>
          <Route path="/explore" component={ExplorePage} />
          <Route path="/sources" component={SourcesPage} />
          <Route path="/sources/:name">{({ name }) => <SourcePage key={name} name={name} />}</Route>
          <Route path="/explain" component={ExplainPage} />
          <Route>
            <NoPage />
          </Route>
        </Switch>
      </PanelBoundary>
    </Shell>
  )
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
