"""How the script kubelet starts a container: its image, and what it refers to."""

import re

from tests.controllers.script_status import canonical, digest, tagged

PULLED = 'Successfully pulled image "%s" in 512ms (512ms including waiting). Image size: 72950530 bytes.'  # recorded
PRESENT = 'Container image "%s" already present on machine and can be accessed by the pod'
REFERENCES = (("configmaps", "configmap", "ConfigMap"), ("secrets", "secret", "Secret"))


class ScriptImages:
    """The part of the script kubelet that starts containers."""

    def _run(self, record, pod, container, field):
        name, image = container["name"], container["image"]
        known = record.containers[name]
        record.images[name] = image
        where = f"spec.{field}{{{name}}}"
        if not self._has_image(record, pod, container, known, where):
            return False
        problem = self._missing_reference(record, container)
        if problem:
            self._tell(pod, "Warning", "Failed", f"Error: {problem}", where)
            known.state = {"waiting": {"reason": "CreateContainerConfigError", "message": problem}}
            return False
        recorded = self.script.container_id(record.name, record.number, name, known.restarts)
        known.id = recorded or "containerd://" + digest(f"{record.uid}/{name}/{known.restarts}")
        self._tell(pod, "Normal", "Created", "Container created", where)
        self._tell(pod, "Normal", "Started", "Container started", where)
        known.state = {"running": {"startedAt": self.now}}
        return True

    def _has_image(self, record, pod, container, known, where):
        image, policy = container["image"], container.get("imagePullPolicy", "IfNotPresent")
        low, repository = image.lower(), image.split(":")[0]
        is_private = "private" in low
        is_bad = "nope" in low or "does-not-exist" in low or low.endswith(":bad") or is_private

        def refuse(reason, message, first=None):
            self._tell(pod, "Warning", first or reason, message, where)
            self._tell(pod, "Warning", "Failed", f"Error: {reason}", where)
            known.state = {"waiting": {"reason": reason, "message": message}}
            return False

        if re.search("[A-Z ]", repository):
            text = (
                f'Failed to apply default image tag "{image}": couldn\'t parse image name "{image}": '
                f"invalid reference format: repository name ({repository}) must be lowercase"
            )
            return refuse("InvalidImageName", text, "InspectFailed")
        if policy == "Never" and (is_bad or "never" in low):
            text = f'Container image "{image}" is not present with pull policy of Never'
            return refuse("ErrImageNeverPull", text)
        if is_bad:
            self._refuse_pull(record, pod, container["name"], image, where, is_private=is_private)
            return False
        if policy == "Always":
            self._tell(pod, "Normal", "Pulling", f'Pulling image "{tagged(image)}"', where)
            self._tell(pod, "Normal", "Pulled", PULLED % tagged(image), where)
        else:
            self._tell(pod, "Normal", "Pulled", PRESENT % image, where)
        return True

    def _refuse_pull(self, record, pod, name, image, where, *, is_private):
        full = canonical(image)
        code, why = "NotFound", f"{full}: not found"
        if is_private:
            code = "Unknown"
            why = (
                "pull access denied, repository does not exist or may require authorization: "
                "server message: insufficient_scope: authorization failed"
            )
        error = (
            f'rpc error: code = {code} desc = failed to pull and unpack image "{full}": '
            f'failed to resolve reference "{full}": {why}'
        )
        shown = tagged(image)
        self._tell(pod, "Normal", "Pulling", f'Pulling image "{shown}"', where)
        self._tell(pod, "Warning", "Failed", f'Failed to pull image "{shown}": {error}', where)
        self._tell(pod, "Warning", "Failed", "Error: ErrImagePull", where)
        known = record.containers[name]
        known.state = {"waiting": {"reason": "ErrImagePull", "message": error}}
        known.pull_error = error
        self.world.later(150, lambda: self._back_off_pull(record.uid, name, shown, where))

    def _back_off_pull(self, uid, name, shown, where):
        record, pod = self._live(uid)
        if record is None or not record.containers[name].is_in("waiting"):
            return
        known = record.containers[name]
        self._tell(pod, "Normal", "BackOff", f'Back-off pulling image "{shown}"', where)
        self._tell(pod, "Warning", "Failed", "Error: ImagePullBackOff", where)
        message = f'Back-off pulling image "{shown}": ErrImagePull: {known.pull_error}'
        known.state = {"waiting": {"reason": "ImagePullBackOff", "message": message}}
        self._push(uid)

    def _missing_reference(self, record, container):
        namespace, store = record.namespace, self.world.store
        for entry in container.get("env") or ():
            for resource, kind, title in REFERENCES:
                reference = (entry.get("valueFrom") or {}).get(f"{title[0].lower()}{title[1:]}KeyRef")
                if not reference or reference.get("optional"):
                    continue
                found = store.get(resource, namespace, reference["name"])
                if found is None:
                    return f'{kind} "{reference["name"]}" not found'
                if reference["key"] not in {**(found.get("data") or {}), **(found.get("binaryData") or {})}:
                    where = f"{title} {namespace}/{reference['name']}"
                    return f"couldn't find key {reference['key']} in {where}"
        for entry in container.get("envFrom") or ():
            for resource, kind, title in REFERENCES:
                reference = entry.get(f"{title[0].lower()}{title[1:]}Ref")
                if reference and not reference.get("optional"):
                    if store.get(resource, namespace, reference["name"]) is None:
                        return f'{kind} "{reference["name"]}" not found'
        return ""

    def _repull(self, uid, name):
        record, pod = self._live(uid)
        if record is None:
            return
        for field in ("initContainers", "containers"):
            for container in pod["spec"].get(field) or ():
                if container["name"] == name:
                    if self._run(record, pod, container, field) and field == "containers":
                        record.containers[name].ready = self._is_ready(pod)
                        record.phase = "Running"
                    self._push(uid)
