// A day with @kubernetes/client-node: create, watch, an informer, exec, patch, delete.
import assert from 'node:assert';
import { PassThrough } from 'node:stream';
import * as k8s from '@kubernetes/client-node';

const kc = new k8s.KubeConfig();
kc.loadFromDefault();
const namespace = kc.getContextObject(kc.getCurrentContext()).namespace;
const core = kc.makeApiClient(k8s.CoreV1Api);
const apps = kc.makeApiClient(k8s.AppsV1Api);

const labels = { app: 'web' };
const pod = { containers: [{ name: 'c', image: 'busybox', command: ['sleep', '3600'] }], terminationGracePeriodSeconds: 0 };
await apps.createNamespacedDeployment({
  namespace,
  body: {
    metadata: { name: 'web' },
    spec: { replicas: 2, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod } },
  },
});

const running = new Map();
const informer = k8s.makeInformer(kc, `/api/v1/namespaces/${namespace}/pods`, () => core.listNamespacedPod({ namespace }));
const both = new Promise((resolve, reject) => {
  const look = (each) => {
    running.set(each.metadata.name, each.status.phase);
    if ([...running.values()].filter((phase) => phase === 'Running').length === 2) resolve();
  };
  informer.on('add', look);
  informer.on('update', look);
  informer.on('error', reject);
});
await informer.start();
await both;
await informer.stop();

const [name] = running.keys();
const out = new PassThrough();
let text = '';
out.on('data', (piece) => (text += piece));
await new Promise((resolve, reject) => {
  new k8s.Exec(kc)
    .exec(namespace, name, 'c', ['echo', 'from', 'inside'], out, process.stderr, null, false, (status) =>
      status.status === 'Success' ? resolve() : reject(new Error(JSON.stringify(status))),
    )
    .catch(reject);
});
assert.equal(text, 'from inside\n');

await apps.patchNamespacedDeployment(
  { namespace, name: 'web', body: [{ op: 'replace', path: '/spec/replicas', value: 0 }] },
  k8s.setHeaderOptions('Content-Type', k8s.PatchStrategy.JsonPatch),
);
const none = new Promise((resolve, reject) => {
  new k8s.Watch(kc)
    .watch(
      `/apis/apps/v1/namespaces/${namespace}/deployments`,
      { fieldSelector: 'metadata.name=web', allowWatchBookmarks: true },
      (type, each) => type !== 'BOOKMARK' && !each.status.replicas && each.status.observedGeneration >= 2 && resolve(),
      (error) => error && reject(error),
    )
    .catch(reject);
});
await none;

await assert.rejects(core.readNamespacedSecret({ namespace, name: 'none' }), (error) => error.code === 404);
await apps.deleteNamespacedDeployment({ namespace, name: 'web' });
console.log('done');
process.exit(0);
