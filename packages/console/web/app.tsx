import { Route, Switch } from 'wouter'
import { Empty } from './components/empty.tsx'
import { PanelBoundary } from './components/error-boundary.tsx'
import { ExplainPage } from './pages/explain/explain-page.tsx'
import { ExplorePage } from './pages/explore/explore-page.tsx'
import { FabricPage } from './pages/fabric/fabric-page.tsx'
import { GpuPage } from './pages/gpu/gpu-page.tsx'
import { GpusPage } from './pages/gpus/gpus-page.tsx'
import { PortPage } from './pages/nic/port-page.tsx'
import { NodePage } from './pages/node/node-page.tsx'
import { PciPage } from './pages/pci/pci-page.tsx'
import { SourcesPage } from './pages/sources/sources-page.tsx'
import { Shell } from './shell/shell.tsx'

/** The page: its frame, and what stands in it. */
export function App() {
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
          <Route path="/explain" component={ExplainPage} />
          <Route>
            <h1 className="page-title">No such page</h1>
            <Empty fact="Nothing is at this address.">The pages that exist are in the navigation.</Empty>
          </Route>
        </Switch>
      </PanelBoundary>
    </Shell>
  )
}
